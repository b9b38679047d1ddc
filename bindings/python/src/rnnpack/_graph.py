# SPDX-License-Identifier: Apache-2.0
"""An ONNX graph as bytes, from numpy arrays: as much of the format as the layers of _layers.py need, without the package onnx."""
from __future__ import annotations

import struct
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

Size = Union[int, str]  # a str names an open one
_OPSET = 21
FLOAT, INT32, INT64, BOOL = 1, 6, 7, 9  # types of elements


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: Union[bytes, str]) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _attribute(name: str, value: Any) -> bytes:
    if isinstance(value, float):
        return _bytes(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return _bytes(1, name) + _number(3, value) + _number(20, 2)
    if isinstance(value, str):
        return _bytes(1, name) + _bytes(4, value) + _number(20, 3)
    if isinstance(value, Graph):
        return _bytes(1, name) + _bytes(6, value.encoded()) + _number(20, 5)
    if all(isinstance(v, str) for v in value):
        return _bytes(1, name) + b"".join(_bytes(9, v) for v in value) + _number(20, 8)
    if any(isinstance(v, float) for v in value):
        return _bytes(1, name) + b"".join(_varint(7 << 3 | 5) + struct.pack("<f", v) for v in value) + _number(20, 6)
    return _bytes(1, name) + b"".join(_number(8, int(v)) for v in value) + _number(20, 7)


def _value_info(name: str, elem: int, shape: Optional[Sequence[Size]]) -> bytes:
    tensor = _number(1, elem)
    if shape is not None:
        tensor += _bytes(2, b"".join(_bytes(1, _bytes(2, s) if isinstance(s, str) else _number(1, s)) for s in shape))
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


class Graph:
    """Nodes are added one after the other; names are made from those asked for."""

    def __init__(self, around: Optional[Graph] = None) -> None:
        """`around`: the graph whose node this one belongs to; their names are different ones."""
        self._nodes: List[bytes] = []
        self._constants: List[bytes] = []
        self._inputs: List[bytes] = []
        self._outputs: List[bytes] = []
        self._names: Dict[str, int] = {} if around is None else around._names  # and what the next one asked for so ends with

    def unused(self, wished: str) -> str:
        name, at = wished, self._names.get(wished, 2)
        while name in self._names:
            name, at = f"{wished}_{at}", at + 1
        self._names[wished] = at
        self._names[name] = self._names.get(name, 2)
        return name

    def input(self, name: str, shape: Sequence[Size], elem: int = FLOAT) -> str:
        name = self.unused(name)
        self._inputs.append(_value_info(name, elem, shape))
        return name

    def output(self, name: str, elem: int = FLOAT) -> None:
        self._outputs.append(_value_info(name, elem, None))

    def constant(self, wished: str, values: npt.ArrayLike, integer: bool = False) -> str:
        array = np.asarray(values, "<i8" if integer else "<f4")
        name = self.unused(wished)
        dims = b"".join(_number(1, size) for size in array.shape)
        self._constants.append(dims + _number(2, INT64 if integer else FLOAT) + _bytes(8, name) + _bytes(9, array.tobytes()))
        return name

    def node(self, op: str, inputs: Sequence[str], wished: str, **attributes: Any) -> str:
        output = self.unused(wished)
        self.node_to(op, inputs, [output], wished, attributes)
        return output

    def chain(self, op: str, names: Sequence[str], wished: str) -> str:
        """An operator of two inputs over all names, from the first one on."""
        name = names[0]
        for other in names[1:]:
            name = self.node(op, [name, other], wished)
        return name

    def node_to(self, op: str, inputs: Sequence[str], outputs: Sequence[str], title: str, attributes: Mapping[str, Any]) -> None:
        node = b"".join(_bytes(1, name) for name in inputs) + b"".join(_bytes(2, name) for name in outputs)
        self._nodes.append(node + _bytes(3, title) + _bytes(4, op) + b"".join(_bytes(5, _attribute(name, value)) for name, value in attributes.items()))

    def output_of(self, value: str, reserved: str) -> None:
        """The output `reserved`, a name that unused() gave before."""
        self.node_to("Identity", [value], [reserved], reserved + ".output", {})
        self.output(reserved)

    def encoded(self) -> bytes:
        graph = b"".join(_bytes(1, node) for node in self._nodes) + _bytes(2, "graph")
        for field, values in ((5, self._constants), (11, self._inputs), (12, self._outputs)):
            graph += b"".join(_bytes(field, value) for value in values)
        return graph

    def model(self) -> bytes:
        return _number(1, 10) + _bytes(2, "rnnpack") + _bytes(7, self.encoded()) + _bytes(8, _bytes(1, "") + _number(2, _OPSET))
