"""While jax2onnx 0.17 traces, jnp.shape is its own and gives no numbers; flax' scan asks for them: imported before anything is exported.

SPDX-License-Identifier: Apache-2.0
"""
import types

import flax.core.axes_scan
import jax.numpy as jnp

flax.core.axes_scan.jnp = types.SimpleNamespace(**{**vars(jnp), "shape": lambda x: x.shape})
