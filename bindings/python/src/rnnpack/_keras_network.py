# SPDX-License-Identifier: Apache-2.0
"""The layers of a Keras model, called one after the other as its description says; models inside are layers of it."""
from __future__ import annotations

from dataclasses import replace
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ._errors import ModelError
from ._graph import Size
from ._keras_layer import MODELS, KerasLayer, class_of
from ._keras_layers import FUNCTIONS, add_layer, steps_as_rows
from ._keras_masks import LOOK_AT_MASKS, with_mask
from ._keras_weights import Weights, layers_inside, layers_of, model_in, name_of
from ._layers import HARD_SLOPE, OLD_HARD_SLOPE, Layers, Value

_MERGES_BY_MASKS = (3, 4)  # from this version on
_MOST_CALLS = 10_000  # of layers: a model inside a model may be called many times
Tensor = Tuple[str, int, int]  # the layer, which of its calls, which output


def model_of(config: Mapping[str, Any], weights: Weights, version: str, sizes: Dict[str, int]) -> bytes:
    """An ONNX model. `sizes`: of open dimensions; those of the inputs are used and taken out."""
    if config.get("class_name") not in MODELS:
        raise ModelError(f"a model of class '{config.get('class_name')}' is not supported; accepted: Sequential, Functional")
    layers = Layers()
    old = version.split(".")[0] in ("1", "2") if version else None
    layers.hard_slope = None if old is None else OLD_HARD_SLOPE if old else HARD_SLOPE
    layers.is_old = old
    numbers = [int(part) for part in version.split(".")[:2] if part.isdecimal()]
    layers.merges_by_masks = tuple(numbers) >= _MERGES_BY_MASKS if len(numbers) == 2 else None
    network = _Network(layers, config, weights)
    names = [layers.graph.unused(name) for name in network.output_names()]
    for value, name in zip(network.called(network.inputs(sizes)), names):
        layers.graph.output_of(value.name, name)
    return layers.graph.model()


def _leaves(node: Any) -> List[Any]:
    """What a call is given: tensors, and what else there is as it is."""
    if isinstance(node, Mapping) and node.get("class_name") == "__keras_tensor__":
        return [tuple(node["config"]["keras_history"][:3])]
    if isinstance(node, (list, tuple)):
        if len(node) >= 3 and isinstance(node[0], str) and isinstance(node[1], int):
            return [tuple(node[:3])]
        return [leaf for part in node for leaf in _leaves(part)]
    return [] if node is None else [node]


def _tensors(node: Any) -> List[Tensor]:
    return [leaf for leaf in _leaves(node) if isinstance(leaf, tuple)]


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0


def _call(kind: str, node: Any) -> Tuple[List[Any], Dict[str, Any]]:
    """What is given by place, initial states behind it, and what is given by name and says something."""
    if isinstance(node, Mapping):
        given, named = list(node.get("args", [])), dict(node.get("kwargs", {}))
    else:
        given = [node]
        named = {key: value for part in node if isinstance(part, list) and len(part) > 3 for key, value in dict(part[3]).items()}
    given += [named.pop(name) for name in ("query", "value", "key") if kind == "MultiHeadAttention" and name in named]
    states = _leaves(named.pop("initial_state", []))
    named = {key: value for key, value in named.items() if value is not None and value is not False and value != [None] * _length(value)}
    if kind == "GetItem" and len(given) == 2:  # a list in the key is no part of it
        key = given[1] if isinstance(given[1], list) else [given[1]]
        return [*_leaves(given[0]), *key], named
    return [*_leaves(given), *states], named


def _shape_of(layer: KerasLayer) -> Any:
    return layer.settings.get("batch_shape") or layer.settings.get("batch_input_shape")


class _Network:
    def __init__(self, layers: Layers, config: Mapping[str, Any], weights: Weights, inside: str = "") -> None:
        """`inside`: what names of its nodes begin with."""
        self._layers, self._config, self._weights, self._inside = layers, config, weights, inside
        settings = config.get("config", {})
        self._settings: Mapping[str, Any] = {} if isinstance(settings, list) else settings
        self._is_sequence = config["class_name"] == "Sequential"

    def output_names(self) -> List[str]:
        if self._is_sequence:
            stack = layers_of(self._config)
            return [stack[-1].get("config", {}).get("name", "output") if stack else "output"]
        calls = _tensors(self._settings["output_layers"])
        alone = len({name for name, _, _ in calls}) == len(calls)
        return [name if alone else f"{name}_{index}" for name, _, index in calls]

    def inputs(self, sizes: Dict[str, int]) -> List[Value]:
        """Of the whole graph."""
        fixed = dict(sizes)
        made = [self._made(config) for config in layers_of(self._config)]
        if not self._is_sequence:
            return [self._input(layer, _shape_of(layer), layer.settings.get("dtype"), fixed, sizes) for layer in self._own_inputs(made)]
        if not made:
            raise ModelError("the model has no layers")
        first = made[0]
        integer = "int32" if first.kind == "Embedding" else first.settings.get("dtype") if first.kind == "InputLayer" else "float32"
        named = first if first.kind == "InputLayer" else KerasLayer("InputLayer", "input", {}, [])
        return [self._input(named, _shape_of(first) or self._settings.get("build_input_shape"), integer, fixed, sizes)]

    def _input(self, layer: KerasLayer, shape: Optional[Sequence[Optional[int]]], dtype: Any, fixed: Mapping[str, int], left: Dict[str, int]) -> Value:
        if shape is None:
            raise ModelError(f"input '{layer.name}' has no shape")
        sizes: List[Size] = []
        for at, size in enumerate(shape):
            name = "batch" if at == 0 else f"size{at}" if any(earlier is None for earlier in shape[1:at]) else "steps"
            if size is None:
                left.pop(name, None)
            sizes.append(fixed.get(name, name) if size is None else int(size))
        kind = dtype if isinstance(dtype, str) else "float32"
        return self._layers.input(layer.name, sizes, integer="int" in kind)

    def _made(self, config: Mapping[str, Any]) -> KerasLayer:
        settings, kind, name = config.get("config", {}), class_of(config), name_of(config)
        if isinstance(settings, list):
            settings = {"layers": settings}
        is_function = kind not in MODELS and not {"trainable", "dtype"} & set(settings)  # as y + 1: its settings are not those of a layer of its name
        return KerasLayer(kind if kind in FUNCTIONS or not is_function else f"ops.{kind}", self._inside + name, settings, [], is_function=is_function, stored=name)

    def _own_inputs(self, made: Sequence[KerasLayer]) -> List[KerasLayer]:
        order = [name for name, _, _ in _tensors(self._settings.get("input_layers", []))]
        inputs = [layer for layer in made if layer.kind == "InputLayer"]
        return sorted(inputs, key=lambda layer: order.index(layer.stored) if layer.stored in order else len(order))

    def called(self, inputs: Sequence[Value]) -> List[Value]:
        """Its outputs, of these inputs."""
        weights = self._weights.fresh()
        made = [self._made(config) for config in layers_of(self._config)]
        networks: Dict[str, _Network] = {}
        for layer, config in zip(made, layers_of(self._config)):
            model = model_in(config)
            if model is None:
                layer.weights = weights.of(layer)
            else:
                networks[layer.stored] = _Network(self._layers, {**model, "class_name": class_of(model)}, weights.inside(layer, model), layer.name + "/")
        if not self._is_sequence:
            calls = _Calls(self._layers, made, networks)
            return calls.outputs(layers_of(self._config), self._own_inputs(made), inputs, self._settings["output_layers"])
        values = list(inputs)
        for layer in made:
            if layer.kind != "InputLayer":
                values = _results(self._layers, replace(layer, operands=values[:1]), networks)
        return values[:1]


def _results(layers: Layers, layer: KerasLayer, networks: Mapping[str, _Network]) -> List[Value]:
    """`networks`: of the layers that are models, or call one at every step."""
    layers.calls += 1
    if layers.calls > _MOST_CALLS:
        raise ModelError(f"the model calls more than {_MOST_CALLS} layers")
    network = networks.get(layer.stored)
    if network is None:
        return add_layer(layers, layer)
    given = [one for one in layer.operands if isinstance(one, Value)]
    inputs = with_mask(layer, given)
    if layer.call or len(inputs) < len(layer.operands):
        raise layer.unsupported("it is called with more than tensors; accepted: tensors")
    if layer.kind in MODELS:
        return network.called(inputs)
    inside = layers_inside({"class_name": layer.kind, "config": layer.settings})
    if inputs[0].mask and any(class_of(one) in LOOK_AT_MASKS for one in inside):
        raise layer.unsupported("a mask before it is supported where no layer of its model looks at one")
    made = steps_as_rows(layers, layer, inputs[0], lambda row: network.called([row])[0])
    return [replace(made, mask=inputs[0].mask)]


def _masked(layer: KerasLayer, value: Any, masks: Sequence[Value]) -> Value:
    if not isinstance(value, Value) or any(not one.is_mask for one in masks):
        raise layer.unsupported("an input of it is a mask, or is none; accepted: where Keras puts masks")
    return replace(value, mask=masks[0].name) if masks else value


class _Calls:
    """Of a functional model: each as soon as what it is given is there."""

    def __init__(self, layers: Layers, made: Sequence[KerasLayer], networks: Mapping[str, _Network]) -> None:
        self._layers, self._networks = layers, networks
        self._made = {layer.stored: layer for layer in made}
        self._counts: Dict[str, int] = {}
        self._values: Dict[Tensor, Value] = {}

    def outputs(self, configs: Sequence[Mapping[str, Any]], own: Sequence[KerasLayer], inputs: Sequence[Value], wanted: Any) -> List[Value]:
        if len(own) != len(inputs):
            raise ModelError(f"a model with {len(own)} inputs is called with {len(inputs)}")
        for layer, value in zip(own, inputs):
            self._counts[layer.stored] = 1
            self._values[layer.stored, 0, 0] = value
        waiting = []
        for config in configs:
            layer, calls = self._made[name_of(config)], config.get("inbound_nodes") or []
            if layer.kind == "InputLayer":
                continue
            if not calls:
                raise ModelError(f"layer '{layer.name}' is never called")
            self._counts[layer.stored] = len(calls)
            waiting += [(layer, at, *_call(layer.kind, call)) for at, call in enumerate(calls)]
        while waiting:
            later = [one for one in waiting if not self._take(*one)]
            if len(later) == len(waiting):
                missing = next(leaf for leaf in _tensors([later[0][2], later[0][3]]) if self._key(leaf) not in self._values)
                raise ModelError(f"layer '{missing[0]}' has no output {missing[2]}, or none before it is used")
            waiting = later
        return [self._value(leaf, of_model=True) for leaf in _tensors(wanted)]

    def _take(self, layer: KerasLayer, at: int, leaves: Sequence[Any], named: Mapping[str, Any]) -> bool:
        """False where what it is given is not there yet."""
        if any(self._key(leaf) not in self._values for leaf in _tensors([leaves, list(named.values())])):
            return False
        call = dict(named)
        operands = [self._value(leaf) if isinstance(leaf, tuple) else leaf for leaf in leaves]
        masks = _leaves(call.get("mask"))
        if isinstance(call.get("mask"), list) and layer.kind in MODELS and len(call["mask"]) == len(operands):  # one for each input
            operands = [_masked(layer, one, [self._value(leaf) for leaf in _tensors(mask)]) for one, mask in zip(operands, call.pop("mask"))]
        elif len(masks) == 1 and isinstance(masks[0], tuple):
            call["mask"] = self._value(masks[0])
        called = replace(layer, weights=list(layer.weights), call=call, operands=operands)
        for index, value in enumerate(_results(self._layers, called, self._networks)):
            self._values[layer.stored, at, index] = value
        return True

    def _value(self, leaf: Tensor, of_model: bool = False) -> Value:
        key = self._key(leaf, of_model)
        if key not in self._values:
            raise ModelError(f"layer '{leaf[0]}' has no output {leaf[2]}, or none before it is used")
        return self._values[key]

    def _key(self, leaf: Tensor, of_model: bool = False) -> Tensor:
        """Keras 3 counts the calls of a functional model from 1 where it names the outputs of the model around it, elsewhere from 0."""
        name, call, index = leaf
        count = self._counts.get(name, 0)
        if count <= 1:
            return name, 0, index
        layer = self._made[name]
        if layer.kind in MODELS and self._layers.is_old is not False:
            raise layer.unsupported("a model that is called more than once is accepted in files of Keras 3")
        return name, call - 1 if of_model and layer.kind in MODELS and layer.kind != "Sequential" else call, index
