# SPDX-License-Identifier: Apache-2.0
"""Sessions on a GPU, here an emulated one, whose memory is the host's: so numpy checks what lies there. Where the build has no CUDA
library, that the package says so."""
import ctypes
import gc
import threading

import numpy as np
import pytest

import rnnpack
from conftest import layer, random
from rnnpack import _abi, _cuda_arrays

HAS_CUDA = (_abi.NATIVE / "librnnpack_cuda.so.1").exists()
needs_cuda = pytest.mark.skipif(not HAS_CUDA, reason="this build has no CUDA library")


class ByInterface:
    """As CuPy and Numba show an array of the GPU."""

    def __init__(self, array, **more):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, **more}


class ByDlpack:
    """As JAX does: no other way in."""

    def __init__(self, gpu, device=2):
        self.gpu, self.device, self.stream = gpu, device, None

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, *, stream=None):
        self.stream = stream
        return self.gpu.__dlpack__(stream=stream)


def on_gpu(array):
    """A CudaArray of these elements."""
    made = _cuda_arrays.CudaArray(rnnpack._cuda._load(), array, 0)
    made._copies.copy(made._address, array.ctypes.data, array.nbytes)
    return made


@pytest.fixture(scope="module")
def model():
    return rnnpack.compile(layer("LSTM", state=True))


def test_without_the_library_it_says_what_to_do(gru, monkeypatch, tmp_path):
    monkeypatch.setattr(rnnpack._cuda, "_library", [])
    monkeypatch.setattr(_abi, "NATIVE", tmp_path)
    with pytest.raises(rnnpack.LibraryError, match="no librnnpack_cuda.so.1; build it with -DRNNPACK_CUDA=ON"):
        gru.session(device="cuda")
    monkeypatch.setenv("RNNPACK_CUDA_LIBRARY", str(tmp_path / "elsewhere.so"))
    with pytest.raises(rnnpack.LibraryError, match="elsewhere.so"):
        gru.session(device="cuda")


def test_options_of_the_other_device_are_refused(gru):
    for wrong in ({"device": "gpu"}, {"device": "cuda", "threads": 2}, {"device": "cuda", "reference": True}, {"cuda_weights": "f16"}):
        with pytest.raises(rnnpack.UsageError):
            gru.session(**wrong)


@needs_cuda
def test_arrays_of_numpy_go_there_and_back(model):
    x, h0 = random((9, 2, 5)), random((1, 2, 6), 1)
    want = model.session(batch=2).run({"x": x, "h0": h0})
    session = model.session(batch=2, device="cuda")
    y = session.run({"x": x, "h0": h0})
    assert isinstance(y["y"], np.ndarray)
    for name in ("y", "hn"):
        np.testing.assert_allclose(y[name], want[name], atol=2e-6)
    session.state.reset()
    out = {name: np.full_like(one, 7) for name, one in want.items()}
    again = session.run({"x": x.transpose(1, 0, 2).copy().transpose(1, 0, 2), "h0": h0}, out=out)
    assert again["y"] is out["y"]
    np.testing.assert_array_equal(out["y"], y["y"])
    assert session.info.layers and session.info.memory_bytes > 0 and "CudaSession" in repr(session)


@needs_cuda
def test_steps_lengths_rows_and_last_steps(gru):
    x, on_cpu, on_gpu_ = random((6, 3, 5)), gru.session(batch=3), gru.session(batch=3, device="cuda")
    for t in range(3):
        np.testing.assert_allclose(on_gpu_.step(x[t]), on_cpu.step(x[t]), atol=2e-6)
    np.testing.assert_allclose(on_gpu_.step(x[3:4]), on_cpu.step(x[3:4]), atol=2e-6)
    for how in ({"lengths": [1, 6, 3]}, {"last_step": True}):
        np.testing.assert_allclose(on_gpu_.run(x, **how), on_cpu.run(x, **how), atol=2e-6)
    np.testing.assert_allclose(on_gpu_.run(x[:, :2], rows=[2, 0]), on_cpu.run(x[:, :2], rows=[2, 0]), atol=2e-6)
    for wrong in ({"lengths": [9, 1, 1]}, {"rows": [0, 0, 1]}):
        with pytest.raises(rnnpack.UsageError):
            on_gpu_.run(x, **wrong)


@needs_cuda
@pytest.mark.parametrize("wrap", [ByInterface, lambda a: ByInterface(a, stream=7), lambda a: ByDlpack(on_gpu(a)),
                                  lambda a: ByDlpack(on_gpu(a), 13), on_gpu])
def test_arrays_of_the_gpu_stay_there(gru, wrap):
    x = random((4, 1, 5))
    want = gru.session(device="cuda").run(x)
    y = gru.session(device="cuda").run(wrap(x))
    assert isinstance(y, rnnpack.CudaArray) and y.shape == want.shape
    np.testing.assert_array_equal(y.numpy(), want)
    np.testing.assert_array_equal(np.asarray(y), want)
    step = gru.session(device="cuda").step(wrap(x[0]))
    np.testing.assert_array_equal(step.numpy(), want[0])
    to = np.full_like(want, 7)
    out = ByInterface(to)
    assert gru.session(device="cuda").run(wrap(x), out=out) is out
    np.testing.assert_array_equal(to, want)


@needs_cuda
def test_features_before_time_and_strides_of_the_gpu():
    model = rnnpack.compile(layer(batch_first=True))
    x = random((2, 7, 5))
    want = model.session(batch=2).run(x)
    session = model.session(batch=2, device="cuda")
    np.testing.assert_allclose(session.run(x), want, atol=2e-6)
    session.state.reset()
    wide = random((2, 7, 8))
    wide[..., :5] = x
    np.testing.assert_allclose(session.run(ByInterface(wide[..., :5])).numpy(), want, atol=2e-6)
    for wrong in (wide[..., :5].astype(np.float64), wide[..., 7:2:-1], np.asfortranarray(x)):
        with pytest.raises(rnnpack.UsageError, match="float32 with dense rows"):
            session.run(ByInterface(wrong))
    with pytest.raises(rnnpack.UsageError, match="mask"):
        session.run(ByInterface(x, mask=object()))
    with pytest.raises(rnnpack.UsageError, match="dense float32 array of shape"):
        session.run(x, out=ByInterface(np.empty((2, 7, 7), np.float32)))


@needs_cuda
def test_a_dlpack_tensor_is_kept_as_long_as_it_is_used_and_no_longer(gru):
    class Counting(ByDlpack):
        pass
    before = dict(_cuda_arrays._given_away)
    source = on_gpu(random((3, 1, 5)))
    capsule = source.__dlpack__()
    assert len(_cuda_arrays._given_away) == len(before) + 1
    del capsule  # nobody took it
    gc.collect()
    assert _cuda_arrays._given_away == before
    shown = Counting(source)
    y = gru.session(device="cuda").run(shown, stream=0)
    assert shown.stream == 1, "the default stream, which the producer makes wait"
    gc.collect()
    assert _cuda_arrays._given_away == before
    assert y.__dlpack_device__() == (2, 0)
    elsewhere = _cuda_arrays.CudaArray(rnnpack._cuda._load(), random((3, 1, 5)), 3)
    capsule = elsewhere.__dlpack__()
    managed = ctypes.cast(_cuda_arrays._api.PyCapsule_GetPointer(capsule, _cuda_arrays._NAME), ctypes.POINTER(_cuda_arrays._DLManagedTensor))
    assert elsewhere.__dlpack_device__() == (2, 3) and managed.contents.tensor.device.device_id == 3
    odd = on_gpu(random((3, 1, 5)))
    odd.dtype = np.dtype(np.int32)
    with pytest.raises(rnnpack.UsageError, match="float32"):
        gru.session(device="cuda").run(ByDlpack(odd))


@needs_cuda
def test_states_move_between_cpu_and_gpu(gru):
    x = random((8, 2, 5))
    want = gru.session(batch=2).run(x)
    on_cpu, there = gru.session(batch=2), gru.session(batch=2, device="cuda")
    on_cpu.run(x[:4])
    there.state = on_cpu.state.save()
    np.testing.assert_allclose(there.run(x[4:]), want[4:], atol=2e-6)
    on_cpu.state.load(there.state)
    there.state.reset(row=0)
    np.testing.assert_allclose(there.run(x)[:, 0], want[:, 0], atol=2e-6)
    with pytest.raises(rnnpack.LibraryError):
        there.state.load(rnnpack.SavedState((b"x", b"y")))


@needs_cuda
def test_weights_in_halves_and_what_no_kernel_computes(gru):
    x = random((5, 1, 5))
    exact, halves = gru.session(device="cuda").run(x), gru.session(device="cuda", cuda_weights="f16").run(x)
    assert not np.array_equal(exact, halves)
    np.testing.assert_allclose(exact, halves, atol=5e-3)
    with pytest.raises(rnnpack.UsageError, match="f32, f16, bf16"):
        gru.session(device="cuda", cuda_weights="f64")
    reverse = rnnpack.compile(layer(direction="reverse"))
    np.testing.assert_allclose(reverse.session(device="cuda").run(x), reverse.session().run(x), atol=2e-6)
    with pytest.raises(rnnpack.UsageError):
        reverse.session(device="cuda").step(x[0])
    with pytest.raises(rnnpack.LibraryError, match="max_steps"):
        reverse.session(device="cuda", max_steps=3).run(x)


@needs_cuda
def test_one_caller_at_a_time(gru):
    session, said = gru.session(device="cuda"), []

    def other():
        try:
            session.run(random((2, 1, 5)))
        except rnnpack.BusyError as error:
            said.append(error)
    with session._turn():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert said


@needs_cuda
def test_the_library_shows_its_functions_alone():
    lib = ctypes.CDLL(str(_abi.NATIVE / "librnnpack_cuda.so.1"))
    assert lib.rnnp_cuda_run and not hasattr(lib, "rnnp_run")
