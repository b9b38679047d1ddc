#!/usr/bin/env python3
"""check_instructions.py -- an image's step takes no more instructions per multiply-accumulate than promised, the runtime's included. The
counts are exact and the same on every machine. Usage: check_instructions.py BUILD_FOLDER MODEL MOST"""
import sys
import tempfile

from device_table import build_plugin, images_of, measure


def main():
    build, model, most = sys.argv[1], sys.argv[2], float(sys.argv[3])
    image = next(i for i in images_of(build) if i["model"] == model)
    with tempfile.TemporaryDirectory() as folder:
        facts = measure(build, image, build_plugin(folder))
    per_mac = facts["instructions"] / facts["macs"]
    print(f"{image['cpu']}, {model}: {per_mac:.4f} instructions per multiply-accumulate, {most} promised")
    return 0 if per_mac <= most else 1


if __name__ == "__main__":
    sys.exit(main())
