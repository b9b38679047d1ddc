# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the training recipes: synthetic voices, noises, augmentation, the network, and its export."""
