#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_instructions.py -- an image's step takes no more instructions per multiply-accumulate than promised, the runtime's included. The
counts are exact and the same on every machine."""
import argparse
import sys
import tempfile

from device_table import build_plugin, images_of, measure


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="build folder with firmware images")
    parser.add_argument("model", help="whose image, e.g. gru64")
    parser.add_argument("most", type=float, help="instructions per multiply-accumulate")
    options = parser.parse_args()
    build, model, most = options.build, options.model, options.most
    image = next((i for i in images_of(build) if i["model"] == model), None)
    if image is None:
        parser.error(f"{build} has no image of {model}; it has: {', '.join(i['model'] for i in images_of(build))}")
    with tempfile.TemporaryDirectory() as folder:
        facts = measure(build, image, build_plugin(folder))
    per_mac = facts["instructions"] / facts["macs"]
    print(f"{image['cpu']}, {model}: {per_mac:.4f} instructions per multiply-accumulate, {most} promised")
    return 0 if per_mac <= most else 1


if __name__ == "__main__":
    sys.exit(main())
