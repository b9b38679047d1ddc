# SPDX-License-Identifier: Apache-2.0
"""Arrays on a GPU: those of others by __cuda_array_interface__ or __dlpack__, and our own, which offer both. A numpy array over an address
of the GPU stands for its shape and strides; nothing reads its elements."""
from __future__ import annotations

import ctypes
import weakref
from typing import Any, Dict, Optional, Protocol, Tuple

import numpy as np

from ._errors import UsageError
from ._tensors import Array

_CUDA, _CUDA_MANAGED = 2, 13  # of DLDeviceType
_LEGACY_STREAM = 1  # the default stream, in both protocols


class Copies(Protocol):
    """Of librnnpack_cuda.so what an array needs."""
    def alloc(self, size: int) -> int: ...
    def free(self, address: int) -> None: ...
    def copy(self, to: int, source: int, size: int) -> None: ...
    def wait_for(self, stream: int) -> None: ...


class _DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _DLDevice), ("ndim", ctypes.c_int32), ("dtype", _DLDataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _DLManagedTensor(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_DLManagedTensor))
_DLManagedTensor._fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]
_TYPES = {(0, 32): np.dtype(np.int32), (2, 32): np.dtype(np.float32)}  # by DLDataTypeCode and bits
_NAME, _USED = b"dltensor", b"used_dltensor"
_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype, _api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.restype, _api.PyCapsule_SetName.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_New.restype, _api.PyCapsule_New.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_GetName", _api))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
_given_away: Dict[int, Tuple[Any, ...]] = {}  # what exported tensors keep, by their address, until they are deleted


class _Interface:
    """What numpy needs for an array over an address, and who keeps the memory."""

    def __init__(self, address: int, shape: Tuple[int, ...], strides: Optional[Tuple[int, ...]], dtype: Any, owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (address, False), "shape": shape, "strides": strides, "typestr": np.dtype(dtype).str, "version": 3}


def view_of(address: int, shape: Tuple[int, ...], strides: Optional[Tuple[int, ...]], dtype: Any, owner: Any) -> Array:
    return np.asarray(_Interface(address, shape, strides, dtype, owner))


def is_on_gpu(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return False
    if hasattr(value, "__cuda_array_interface__"):  # torch's tensors on the CPU have it too, and raise an AttributeError
        return True
    where = getattr(value, "__dlpack_device__", None)
    return where is not None and int(where()[0]) in (_CUDA, _CUDA_MANAGED)


def on_gpu(value: Any, name: str, copies: Copies, stream: int) -> Array:
    """A view of the array, which `stream` may read: what its owner still does to it comes first."""
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        return _from_dlpack(value.__dlpack__(stream=stream or _LEGACY_STREAM), name)
    if interface.get("mask") is not None:
        raise UsageError(f"'{name}' has a mask: arrays of the GPU are read as they lie")
    theirs = interface.get("stream")
    if theirs is not None and theirs != (stream or _LEGACY_STREAM):
        copies.wait_for(theirs)
    return view_of(interface["data"][0] or 0, tuple(interface["shape"]), interface.get("strides"), interface["typestr"], value)


class _Taken:
    """A tensor that another gave away; deleted with this."""

    def __init__(self, managed: Any) -> None:
        weakref.finalize(self, _delete, managed)


def _delete(managed: Any) -> None:
    if managed.contents.deleter:
        managed.contents.deleter(managed)


def _from_dlpack(capsule: Any, name: str) -> Array:
    managed = ctypes.cast(_api.PyCapsule_GetPointer(capsule, _NAME), ctypes.POINTER(_DLManagedTensor))
    _api.PyCapsule_SetName(capsule, _USED)
    taken, t = _Taken(managed), managed.contents.tensor
    dtype = _TYPES.get((t.dtype.code, t.dtype.bits))
    if dtype is None or t.dtype.lanes != 1:
        raise UsageError(f"'{name}' on the GPU holds neither float32 nor int32: it is not converted there")
    strides = tuple(4 * t.strides[i] for i in range(t.ndim)) if t.strides else None
    return view_of((t.data or 0) + t.byte_offset, tuple(t.shape[i] for i in range(t.ndim)), strides, dtype, taken)


def _take_back(managed: Any) -> None:
    _given_away.pop(ctypes.addressof(managed.contents), None)


def _drop_capsule(capsule: int) -> None:
    """A capsule that goes; nobody took its tensor if it has its first name. By address: its count of references is 0 already."""
    if _name_of(capsule) == _NAME:
        _given_away.pop(_pointer_of(capsule, _NAME), None)


_DELETER, _DESTRUCTOR = _Deleter(_take_back), ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_drop_capsule)


class CudaArray:
    """A result on the GPU. torch, CuPy, JAX and Numba take it where it lies (torch.from_dlpack(y), cupy.asarray(y)); numpy() copies it."""

    def __init__(self, copies: Copies, like: Array, device: int) -> None:
        """Of `like`'s shape and strides, whose own elements lie side by side, on GPU `device`, which is the current one."""
        self._copies, self._bytes, self._device = copies, like.nbytes, device
        address = copies.alloc(like.nbytes)
        weakref.finalize(self, copies.free, address)
        self._strides, self._address = like.strides, address
        self.shape: Tuple[int, ...] = like.shape
        self.dtype = like.dtype

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        return {"data": (self._address, False), "shape": self.shape, "strides": self._strides, "typestr": self.dtype.str, "version": 3,
                "stream": None}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _CUDA, self._device

    def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
        rank = len(self.shape)
        shape, strides = (ctypes.c_int64 * rank)(*self.shape), (ctypes.c_int64 * rank)(*(s // 4 for s in self._strides))
        code, bits = next(key for key, dtype in _TYPES.items() if dtype == self.dtype)
        tensor = _DLTensor(self._address, _DLDevice(_CUDA, self._device), rank, _DLDataType(code, bits, 1), shape, strides, 0)
        managed = _DLManagedTensor(tensor, None, _DELETER)
        _given_away[ctypes.addressof(managed)] = (managed, shape, strides, self)
        return _api.PyCapsule_New(ctypes.addressof(managed), _NAME, ctypes.cast(_DESTRUCTOR, ctypes.c_void_p))

    def numpy(self) -> Array:
        like: Array = np.empty(self._bytes // 4, self.dtype)
        self._copies.copy(like.__array_interface__["data"][0], self._address, self._bytes)
        return view_of(like.__array_interface__["data"][0], self.shape, self._strides, self.dtype, like)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.asarray(self.numpy(), dtype)

    def __repr__(self) -> str:
        return f"<rnnpack.CudaArray {self.dtype} {list(self.shape)}>"
