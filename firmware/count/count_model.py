#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count_model.py BUILD TOOLS MODEL [option of rnnpack compile...] -- flash, RAM, stack and instructions of a step of one model.

BUILD is a build folder of a board (-DRNNPACK_FIRMWARE=ON) that has the library, TOOLS the building machine's (make build). The image is
that of image.c: it steps through noise and compares every output with the building machine's.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from device_table import build_plugin, measure


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"count_model.py: {pathlib.Path(str(command[0])).name} failed\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


def build_image(kit, tools, model, options, folder):
    """The image of `model` in `folder`, as device_table.measure takes it."""
    net = folder / "net"
    run(tools / "src/compiler/rnnpack", "compile", model, "--target", kit["target"], *options, "-o", net.with_suffix(".rnnp"), "--emit-c", net)
    run(tools / "firmware/tools/write_image_data", net.with_suffix(".rnnp"), folder / "data.c")
    image = folder / "image.elf"
    run(kit["compiler"], *kit["flags"].split(), "-std=c99", "-O2", "-ffunction-sections", "-fdata-sections", *(f"-I{path}" for path in kit["include"]),
        f"-I{folder}", "-DIMAGE_MODEL=net", "-DIMAGE_UPPER=NET", '-DIMAGE_HEADER="net.h"', f'-DRNNPACK_BOARD="{kit["board"]}"', *kit["sources"],
        net.with_suffix(".c"), folder / "data.c", kit["library"], *kit["link"].split(), f"-Wl,-Map,{image}.map", "-Wl,--gc-sections", "-o", image)
    return {"cpu": kit["cpu"], "model": "net", "file": str(image), "emulator": kit["emulator"]}


def facts_of(build, tools, model, options=()):
    """What device_table.measure finds of the model."""
    kit = json.loads((build / "firmware" / "image_kit.json").read_text())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        image = build_image(kit, tools, model, options, folder)
        facts = measure(str(build), image, build_plugin(name))
        facts["blob"] = os.path.getsize(folder / "net.rnnp")
    return kit, facts


def main():
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    build, tools = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    kit, f = facts_of(build, tools, sys.argv[3], sys.argv[4:])
    library = f["code"] + f["constants"]
    print(f"{sys.argv[3]} on {kit['cpu']} ({kit['board']}, --target {kit['target']})")
    print(f"flash         {f['blob'] + library} bytes: model {f['blob']}, library {library}")
    print(f"RAM           {f['session'] + 256} bytes: session {f['session']}, model handle 256; the library has no data of its own" if f["writable"] == 0
          else f"RAM           session {f['session']}, library {f['writable']}")
    print(f"stack         {f['stack']} bytes seen, {f['bound']} at most")
    print(f"instructions  {f['instructions']:.0f} a step, {f['instructions'] / f['macs']:.3f} per multiply-accumulate ({f['macs']})")
    print(f"error         {f['error']}e-9 from the building machine's outputs")


if __name__ == "__main__":
    main()
