# SPDX-License-Identifier: Apache-2.0
"""A compiled model as an operator of torch, rnnpack::run: in a module between others, under torch.compile and torch.export. Tensors on the
GPU are read and written where they lie, on torch's current stream; tensors on the CPU by a session on the CPU.

    layer = RnnpackLayer(rnnpack.from_torch(module, example))
    y = layer(x)

Each call begins with the model's initial state, so that calls may be moved and repeated as those of any operator. A stream that goes on
from call to call is a session of its own: session.run(x, out=y, stream=torch.cuda.current_stream().cuda_stream)."""
import threading

import rnnpack
import torch

_layers = {}  # operators take numbers, not objects


@torch.library.custom_op("rnnpack::run", mutates_args=())
def run(x: torch.Tensor, layer: int) -> torch.Tensor:
    return _layers[layer].compute(x.detach().contiguous())


@run.register_fake
def _(x: torch.Tensor, layer: int) -> torch.Tensor:
    return x.new_empty(_layers[layer].shape_for(x.shape))


class RnnpackLayer(torch.nn.Module):
    def __init__(self, model: rnnpack.Model, cuda_weights: str = "f32") -> None:
        super().__init__()
        if sum(not t.optional for t in model.inputs) != 1 or len(model.outputs) != 1:
            raise ValueError("rnnpack::run is for models of one input and one output")
        self.model, self.cuda_weights, self.number = model, cuda_weights, len(_layers)
        self.sessions, self.lock = {}, threading.Lock()
        _layers[self.number] = self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.rnnpack.run(x, self.number)

    def shape_for(self, shape):
        sizes = {dim: size for dim, size in zip(self.model.inputs[0].dims, shape) if isinstance(dim, str)}
        return [sizes[dim] if isinstance(dim, str) else dim for dim in self.model.outputs[0].dims]

    def compute(self, x: torch.Tensor) -> torch.Tensor:
        y = x.new_empty(self.shape_for(x.shape))
        dims = self.model.inputs[0].dims
        batch = x.shape[dims.index("batch")] if "batch" in dims else 1
        with self.lock, torch.cuda.device_of(x):
            session = self.session_for(x.device, batch)
            session.state.reset()
            if x.is_cuda:
                session.run(x, out=y, stream=torch.cuda.current_stream().cuda_stream)
            else:
                session.run(x.numpy(), out=y.numpy())
        return y

    def session_for(self, device: torch.device, batch: int):
        """Sessions are made once for each device and batch."""
        found = self.sessions.get((device, batch))
        if found is None:
            where = {"device": "cuda", "cuda_weights": self.cuda_weights} if device.type == "cuda" else {}
            found = self.sessions[device, batch] = self.model.session(batch=batch, **where)
        return found


def main() -> None:
    torch.manual_seed(0)

    class Detector(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.head = torch.nn.LSTM(20, 32, batch_first=True), torch.nn.Linear(32, 2)

        def forward(self, frames: torch.Tensor) -> torch.Tensor:
            return self.head(self.layer(frames)[0])

    module = Detector().eval()
    layer = RnnpackLayer(rnnpack.from_torch(module, torch.zeros(1, 4, 20)))
    for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():
        x = torch.randn(3, 50, 20, device=device)
        with torch.no_grad():
            difference = (layer(x) - module.to(device)(x)).abs().max().item()
        print(f"{device}: largest difference {difference:.1e}")
    if not torch.cuda.is_available():
        print("cuda: there is no GPU here")


if __name__ == "__main__":
    main()
