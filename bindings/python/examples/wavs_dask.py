# SPDX-License-Identifier: Apache-2.0
"""A folder of wavs on a local Dask cluster: the model is compiled once, goes to the workers as a pickle, and runs there.

python wavs_dask.py MODEL.onnx FOLDER [WORKERS]
"""
import pathlib
import sys

from dask.distributed import Client, LocalCluster
from speech import print_table, speech_seconds

import rnnpack


def main(onnx, folder, workers=2):
    model = rnnpack.compile(onnx)
    paths = sorted(pathlib.Path(folder).glob("*.wav"))
    with LocalCluster(n_workers=int(workers), threads_per_worker=2, dashboard_address=None) as cluster, Client(cluster) as client:
        client.upload_file(str(pathlib.Path(__file__).with_name("speech.py")))
        there = client.scatter(model, broadcast=True)
        found = client.gather(client.map(lambda path, model: speech_seconds(model, path), paths, model=there))
    print_table(zip(paths, found))


if __name__ == "__main__":
    main(*sys.argv[1:])
