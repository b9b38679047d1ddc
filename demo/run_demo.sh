#!/bin/sh
# run_demo.sh BUILD -- streams the recordings that alsa-utils installs through the detector and shows what it found.
# SPDX-License-Identifier: Apache-2.0
set -eu
build=$1
sounds=${RNNPACK_DEMO_SOUNDS:-/usr/share/sounds/alsa}
[ -f "$sounds/Front_Center.wav" ] || { echo "run_demo.sh: no recordings in $sounds (package alsa-utils)" >&2; exit 1; }
speech=""
for name in Front_Center Front_Left Front_Right Rear_Center Rear_Left Side_Right; do speech="$speech $sounds/$name.wav"; done
echo
echo "rnnpack: a voice-activity detector, trained by this project, compiled from ONNX, streamed frame by frame"
# shellcheck disable=SC2086
"$build/demo/vad_demo" "$build/vad.svg" "$sounds/Noise.wav" $speech
size "$build/demo/vad_demo" >/dev/null 2>&1 && scripts/code_size.sh "$build/src/librnnpack.a"
