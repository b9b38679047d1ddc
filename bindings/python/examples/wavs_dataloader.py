# SPDX-License-Identifier: Apache-2.0
"""A folder of wavs through PyTorch's DataLoader: each worker has the model from a pickle or by fork, and makes its sessions itself.

python wavs_dataloader.py MODEL.onnx FOLDER [WORKERS [fork|spawn]]
"""
import pathlib
import sys

from speech import print_table, speech_seconds
from torch.utils.data import DataLoader, Dataset

import rnnpack


class Speech(Dataset):
    def __init__(self, model, folder):
        self.model, self.paths = model, sorted(pathlib.Path(folder).glob("*.wav"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        return str(self.paths[at]), speech_seconds(self.model, self.paths[at])


def main(onnx, folder, workers=2, start="spawn"):
    loader = DataLoader(Speech(rnnpack.compile(onnx), folder), batch_size=None, num_workers=int(workers), multiprocessing_context=start)
    print_table(list(loader))


if __name__ == "__main__":
    main(*sys.argv[1:])
