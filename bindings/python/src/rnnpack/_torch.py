# SPDX-License-Identifier: Apache-2.0
"""A torch module as a model: exported to ONNX with its axes named, then compiled."""
from __future__ import annotations

import inspect
import pathlib
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._errors import ModelError, UsageError
from ._model import Model, compile
from ._options import CompileOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

Axes = Sequence[Optional[str]]


def from_torch(module: Any, example: Any, *, axes: Union[None, Axes, Mapping[str, Axes]] = None, dynamo: bool = False,
               opset_version: int = 17, input_names: Optional[Sequence[str]] = None, output_names: Optional[Sequence[str]] = None,
               **options: Unpack[CompileOptions]) -> Model:
    """Compile a torch.nn.Module. `example`: what it is called with, a tensor or a tuple of them.

    axes    "batch", "time" or None (a fixed size) for each axis of the input, or of inputs by name. Left out, the first input's are
            taken from the module: (batch, time, features) or, where a layer says batch_first=False, (time, batch, features);
            two axes of an input of numbers are (time, features) where layers are recurrent, (batch, features) elsewhere, and those
            of an input of indices (batch, time) or (time, batch). Other inputs keep the example's sizes
    dynamo  which of torch's exporters: the one by tracing, which needs nothing more, or torch.export's, which needs onnxscript
    options  those of compile(), progress too; torch itself tells nothing while it exports

    The module is exported as it is in evaluation, and left as it was. Its LSTMs with a projection go through
    torch_without_projection.
    """
    import torch

    module = torch_without_projection(module)
    args = tuple(example) if isinstance(example, (tuple, list)) else (example,)
    names = list(input_names) if input_names else _parameter_names(module, len(args))
    if len(names) != len(args):
        raise UsageError(f"{len(names)} names for {len(args)} inputs")
    labels = _labels(torch, module, args, names, axes)
    training = module.training
    module.eval()
    try:
        with tempfile.TemporaryDirectory() as work, torch.no_grad():
            file = pathlib.Path(work) / "model.onnx"
            outputs = list(output_names) if output_names else _output_names(torch, module(*args))
            _export(torch, module, args, file, names, outputs, labels, dynamo, opset_version)
            model = compile(file.read_bytes() if len(list(file.parent.iterdir())) == 1 else _joined(file), **options)
    finally:
        module.train(training)
    return model


def torch_without_projection(module: Any) -> Any:
    """For those who export to ONNX themselves: a copy of a torch.nn.Module in which each nn.LSTM(proj_size=...), which no exporter
    can write, is a plain nn.LSTM with a dense layer behind it, called as before and with the same results but for roundings. The
    module itself where it has none. R becomes hidden_size wide: more work a step than torch's own, for as many results."""
    import torch

    if not isinstance(module, torch.nn.Module):
        raise UsageError(f"a torch.nn.Module is expected, not {type(module).__name__}")
    from ._projection import replaced
    return replaced(module)


def _parameter_names(module: Any, count: int) -> List[str]:
    parameters = [name for name, p in inspect.signature(module.forward).parameters.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return parameters[:count] if len(parameters) >= count else [f"input{at}" for at in range(count)]


def _output_names(torch: Any, results: Any) -> List[str]:
    """"output", or "output0", "output1" and so on for the tensors of nested tuples and lists."""
    def count(value: Any) -> int:
        if torch.is_tensor(value):
            return 1
        return sum(map(count, value.values() if isinstance(value, dict) else value)) if isinstance(value, (tuple, list, dict)) else 0

    found = count(results)
    return ["output"] if found == 1 else [f"output{at}" for at in range(found)]


def _labels(torch: Any, module: Any, args: Sequence[Any], names: Sequence[str],
            axes: Union[None, Axes, Mapping[str, Axes]]) -> Dict[str, Axes]:
    if axes is None:
        found: Dict[str, Axes] = {names[0]: _guess(torch, module, args[0])} if torch.is_tensor(args[0]) else {}
    elif isinstance(axes, Mapping):
        found = dict(axes)
    else:
        found = {names[0]: axes}
    for name, given in found.items():
        if name not in names:
            raise UsageError(f"axes of '{name}': the module's inputs are {', '.join(names)}")
        rank = args[list(names).index(name)].dim()
        if len(given) != rank:
            raise UsageError(f"'{name}' has {rank} axes, axes names {len(given)}")
    return found


def _guess(torch: Any, module: Any, x: Any) -> Axes:
    layers = [m for m in module.modules() if isinstance(m, torch.nn.RNNBase)]
    batch_first = all(layer.batch_first for layer in layers)
    if x.dim() == 3:
        return ("batch", "time", None) if batch_first else ("time", "batch", None)
    if x.dim() == 2 and not x.is_floating_point():
        return ("batch", "time") if batch_first else ("time", "batch")
    if x.dim() == 2:
        return ("time", None) if layers else ("batch", None)
    return ("batch", *(None for _ in range(x.dim() - 1))) if x.dim() else ()


def _export(torch: Any, module: Any, args: Tuple[Any, ...], file: pathlib.Path, names: Sequence[str], output_names: Sequence[str],
            labels: Mapping[str, Axes], dynamo: bool, opset_version: int) -> None:
    known = inspect.signature(torch.onnx.export).parameters
    dynamic = {name: {at: label for at, label in enumerate(given) if label} for name, given in labels.items()}
    more: Dict[str, Any] = {"input_names": list(names), "output_names": list(output_names)}
    if dynamo and "dynamo" in known:
        shapes = tuple({at: torch.export.Dim(label) for at, label in dynamic.get(name, {}).items()} or None for name in names)
        more.update(dynamo=True, verbose=False, dynamic_shapes=shapes, external_data=False, opset_version=max(18, opset_version))
    else:
        more.update(dynamic_axes=dynamic, opset_version=opset_version)
        if "dynamo" in known:
            more["dynamo"] = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch.onnx.export(module, args, str(file), **more)
        except Exception as error:
            raise ModelError(f"torch does not export the module: {error}") from error


def _joined(file: pathlib.Path) -> bytes:
    """Weights that the exporter put into a file of their own, in the model again."""
    try:
        import onnx
    except ImportError as error:
        raise UsageError("torch wrote the weights beside the model: install onnx, or export to a file and compile that") from error
    message: bytes = onnx.load(str(file)).SerializeToString()
    return message
