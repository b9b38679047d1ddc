# SPDX-License-Identifier: Apache-2.0
"""from_torch: modules as they are, with the axes that they have."""
import pathlib

import numpy as np
import pytest

import rnnpack

torch = pytest.importorskip("torch", reason="no torch in this environment (requirements-torch.txt)")


class Net(torch.nn.Module):
    def __init__(self, kind="GRU", batch_first=True, **more):
        super().__init__()
        torch.manual_seed(1)
        self.layer = getattr(torch.nn, kind)(10, 16, batch_first=batch_first, **more)
        self.head = torch.nn.Linear(16 * (2 if more.get("bidirectional") else 1), 3)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, frames):
        return torch.sigmoid(self.head(self.drop(self.layer(frames)[0])))


class WithState(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.LSTM(10, 16, 2)

    def forward(self, x, h, c):
        return self.layer(x, (h, c))


def check(model, module, *inputs):
    with torch.no_grad():
        want = module.eval()(*inputs)
    got = model.session(batch=max(t.shape[1 - int(model.inputs[0].dims[0] == "batch")] for t in inputs)).run(inputs[0].numpy())
    assert np.allclose(got, want.numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
@pytest.mark.parametrize("batch_first", [False, True])
def test_the_axes_are_those_of_the_modules_layers(kind, batch_first):
    module = Net(kind, batch_first)
    model = rnnpack.from_torch(module, torch.zeros(2, 4, 10))
    assert str(model.inputs[0]) == f"frames [{'batch, steps' if batch_first else 'steps, batch'}, 10]"
    assert [t.name for t in model.outputs] == ["output"]
    check(model, module, torch.randn(3, 7, 10))


def test_layers_in_both_directions_and_stacked():
    module = Net("LSTM", bidirectional=True, num_layers=2)
    check(rnnpack.from_torch(module, torch.zeros(1, 4, 10)), module, torch.randn(2, 9, 10))


def test_an_input_of_two_axes_is_time_and_features():
    module = Net()
    model = rnnpack.from_torch(module, torch.zeros(4, 10))
    x = torch.randn(9, 10)
    with torch.no_grad():
        assert np.allclose(model.session().run(x.numpy()), module.eval()(x).numpy(), atol=1e-5)


def test_states_are_inputs_by_the_names_of_forward_or_the_librarys_own():
    module, axes = WithState(), {"x": ("time", "batch", None), "h": (None, "batch", None), "c": (None, "batch", None)}
    example = (torch.zeros(4, 2, 10), torch.zeros(2, 2, 16), torch.zeros(2, 2, 16))
    model = rnnpack.from_torch(module, example, axes=axes)
    assert [(t.name, t.role) for t in model.inputs] == [("x", "sequence"), ("h", "state"), ("c", "state")]
    assert [t.name for t in model.outputs] == ["output0", "output1", "output2"]
    inputs = [torch.randn(5, 3, 10), torch.randn(2, 3, 16), torch.randn(2, 3, 16)]
    got = model.session(batch=3).run({t.name: v.numpy() for t, v in zip(model.inputs, inputs)})
    with torch.no_grad():
        y, (h, c) = module(*inputs)
    for name, want in zip(got, (y, h, c)):
        assert np.allclose(got[name], want.numpy(), atol=1e-5)
    kept = rnnpack.from_torch(module, example, axes=axes, state={"h": "output1", "c": "output2"})
    assert [t.name for t in kept.inputs] == ["x"]


def test_the_other_exporter_gives_the_same_model():
    pytest.importorskip("onnxscript", reason="torch's exporter needs onnxscript")
    module = Net()
    check(rnnpack.from_torch(module, torch.zeros(2, 4, 10), dynamo=True), module, torch.randn(3, 7, 10))


def test_the_module_stays_as_it_was():
    module = Net().train()
    before = {name: p.clone() for name, p in module.state_dict().items()}
    rnnpack.from_torch(module, torch.zeros(1, 4, 10))
    assert module.training and all(torch.equal(p, before[name]) for name, p in module.state_dict().items())


def test_flags_go_to_the_compiler_and_its_refusals_come_back():
    assert rnnpack.from_torch(Net(), torch.zeros(1, 4, 10), stream=2).info.stream_steps == 2
    with pytest.raises(rnnpack.ModelError, match="stream"):
        rnnpack.from_torch(Net(bidirectional=True), torch.zeros(1, 4, 10), stream=2)


@pytest.mark.parametrize("axes", [("batch", "time"), {"sound": ("batch", "time", None)}])
def test_axes_that_do_not_fit_are_refused_by_name(axes):
    with pytest.raises(rnnpack.UsageError, match="frames"):
        rnnpack.from_torch(Net(), torch.zeros(1, 4, 10), axes=axes)


def test_what_is_no_module_or_does_not_export_is_refused():
    class Odd(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.svd(x)[0] if x.sum() > 1e9 else torch.special.entr(torch.fft.fft(x).abs())

    with pytest.raises(rnnpack.UsageError, match="torch.nn.Module"):
        rnnpack.from_torch(lambda x: x, torch.zeros(1, 4, 10))
    with pytest.raises(rnnpack.ModelError):
        rnnpack.from_torch(Odd(), torch.zeros(1, 4, 10))


def projected(**more):
    torch.manual_seed(2)
    return torch.nn.LSTM(6, 10, proj_size=4, **more)


@pytest.mark.parametrize("dynamo", [False, True])
@pytest.mark.parametrize("more", [{}, {"batch_first": True}, {"bias": False}, {"num_layers": 3}, {"bidirectional": True},
                                  {"num_layers": 2, "bidirectional": True, "batch_first": True, "dropout": 0.5}])
def test_an_lstm_with_a_projection_is_one_without(more, dynamo):
    if dynamo:
        pytest.importorskip("onnxscript", reason="torch's exporter needs onnxscript")
    module = torch.nn.Sequential(projected(**more))
    model = rnnpack.from_torch(module, torch.zeros(5, 5, 6), dynamo=dynamo, progress=lambda *_: None)
    assert model.info.recurrent_count == more.get("num_layers", 1)
    assert isinstance(module[0], torch.nn.LSTM) and module[0].proj_size == 4
    x = torch.randn(7, 3, 6) if not more.get("batch_first") else torch.randn(3, 7, 6)
    with torch.no_grad():
        y, (h, c) = module.eval()(x)
    got = model.session(batch=3).run(x.numpy())
    assert list(got) == ["output0", "output1", "output2"]
    for name, want in zip(got, (y, h, c)):
        assert np.allclose(got[name], want.numpy(), atol=1e-5)


class Projected(torch.nn.Module):
    def __init__(self, **more):
        super().__init__()
        self.layer = self.again = projected(**more)

    def forward(self, x, h, c):
        self.layer.flatten_parameters()
        y, (h, c) = self.again(x, (h, c))
        return y, h, c


@pytest.mark.parametrize("more", [{}, {"num_layers": 2, "bidirectional": True}])
def test_states_of_an_lstm_with_a_projection_come_in_and_go_out(more):
    module, places = Projected(**more), 4 if more else 1
    axes = {"x": ("time", "batch", None), "h": (None, "batch", None), "c": (None, "batch", None)}
    inputs = [torch.randn(5, 3, 6), torch.randn(places, 3, 4), torch.randn(places, 3, 10)]
    plain = rnnpack.torch_without_projection(module)
    assert plain.layer is plain.again and not any(isinstance(part, torch.nn.LSTM) and part.proj_size for part in plain.modules())
    model = rnnpack.from_torch(module, tuple(torch.zeros_like(v) for v in inputs), axes=axes)
    got = model.session(batch=3).run({t.name: v.numpy() for t, v in zip(model.inputs, inputs)})
    with torch.no_grad():
        wanted = module(*inputs)
        for want, near, name in zip(wanted, plain(*inputs), got):
            assert torch.allclose(want, near, atol=1e-5) and np.allclose(got[name], want.numpy(), atol=1e-5)


def test_streams_keep_the_state_of_an_lstm_with_a_projection():
    x = torch.randn(9, 1, 6)
    with torch.no_grad():
        want = projected()(x)[0].numpy()
    session = rnnpack.from_torch(torch.nn.Sequential(projected()), torch.zeros(4, 2, 6)).session()  # the layer's own, any pieces
    assert np.allclose(np.concatenate([session.run(x[:4].numpy())["output0"], session.run(x[4:].numpy())["output0"]]), want, atol=1e-5)
    with pytest.raises(rnnpack.ModelError, match="keeps its own state"):
        one_step, axes = (torch.zeros(1, 2, 6), torch.zeros(1, 2, 4), torch.zeros(1, 2, 10)), (None, "batch", None)
        rnnpack.from_torch(Projected(), one_step, axes={"x": axes, "h": axes, "c": axes}, state={"h": "output1", "c": "output2"})


def test_packed_and_unbatched_sequences_go_through_a_module_without_projection():
    module = projected(num_layers=2, bidirectional=True).double().eval()
    plain = rnnpack.torch_without_projection(module)
    packed = torch.nn.utils.rnn.pack_padded_sequence(torch.randn(6, 3, 6).double(), [3, 6, 2], enforce_sorted=False)
    with torch.no_grad():
        (want, states), (got, near) = module(packed), plain(packed)
        assert torch.allclose(want.data, got.data) and all(torch.allclose(a, b) for a, b in zip(states, near))
        x, start = torch.randn(6, 6).double(), (torch.randn(4, 4).double(), torch.randn(4, 10).double())
        assert torch.allclose(module(x, start)[0], plain(x, start)[0])


def test_a_start_that_no_plain_lstm_has_is_refused_by_the_weights_name():
    module = Projected()
    with torch.no_grad():
        module.layer.weight_hr_l0[1] = module.layer.weight_hr_l0[0]
    plain = rnnpack.torch_without_projection(module)
    assert torch.allclose(plain.layer(torch.ones(3, 1, 6))[0], module.layer(torch.ones(3, 1, 6))[0], atol=1e-6)
    with pytest.raises(rnnpack.ModelError, match="weight_hr_l0 of 'layer' has not full rank"):
        plain(torch.zeros(3, 1, 6), torch.ones(1, 1, 4), torch.zeros(1, 1, 10))


def test_a_module_without_projections_is_given_back_itself():
    module = Net("LSTM")
    assert rnnpack.torch_without_projection(module) is module
    with pytest.raises(rnnpack.UsageError, match="torch.nn.Module"):
        rnnpack.torch_without_projection(7)


def test_a_model_as_an_operator_of_torch(monkeypatch):
    """examples/torch_op.py on the CPU, by torch's own check of operators, in a module and exported."""
    monkeypatch.syspath_prepend(str(pathlib.Path(__file__).resolve().parents[1] / "examples"))
    torch_op = pytest.importorskip("torch_op")
    module = Net("LSTM").eval()
    layer = torch_op.RnnpackLayer(rnnpack.from_torch(module, torch.zeros(2, 4, 10)))
    x = torch.randn(3, 7, 10)
    torch.library.opcheck(torch.ops.rnnpack.run, (x, layer.number))
    with torch.no_grad():
        for _ in range(2):  # each call from the initial state
            assert torch.allclose(layer(x), module(x), atol=1e-5)
        both = torch.nn.Sequential(torch.nn.Identity(), layer, torch.nn.Sigmoid())
        assert torch.allclose(torch.export.export(both, (x,)).module()(x), torch.sigmoid(module(x)), atol=1e-5)
    with pytest.raises(rnnpack.UsageError, match="shape"):
        layer(torch.randn(3, 7, 9))
