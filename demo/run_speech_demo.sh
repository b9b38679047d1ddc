#!/bin/sh
# run_speech_demo.sh BUILD [SECONDS [FOLDER]] -- finds noise-suppression networks and recordings, compiles the networks and runs speech_demo.
# RNNPACK_MODELS_DIR and RNNPACK_AUDIO_DIR say where; without them ../shared/models and ../shared/audio, should they be there. Failing
# those the project's own models run, over the recordings that alsa-utils installs. RNNPACK_MODELS_DIR=none and
# RNNPACK_AUDIO_DIR=none ask for just that. What it writes goes to BUILD/FOLDER. Exit status 77: there is no recording at all. SPDX-License-Identifier: Apache-2.0
set -eu
build=$1
seconds=${2:-60}
root=$(dirname "$0")/..
models=${RNNPACK_MODELS_DIR:-$root/../shared/models}
audio=${RNNPACK_AUDIO_DIR:-$root/../shared/audio}
sounds=${RNNPACK_DEMO_SOUNDS:-/usr/share/sounds/alsa}
out=$build/${3:-speech}
mkdir -p "$out"

compile() {  # compile ONNX BLOB [--state INPUT=OUTPUT]...
  onnx=$1 blob=$out/$2.rnnp
  shift 2
  "$build/src/compiler/rnnpack" compile "$onnx" -o "$blob" "$@" >"$blob.log" 2>&1 || { sed "s|^|  |" "$blob.log"; return 1; }
}

echo
echo "rnnpack: noise suppression, block by block"
set -- --out "$out" --seconds "$seconds"
networks=
there() {  # there NAME FOLDER FILE... : are all of them? Says so either way.
  name=$1 folder=$models/$2
  shift 2
  for file in "$@"; do
    [ -f "$folder/$file" ] || { printf '  %-14s not there: no %s in %s (RNNPACK_MODELS_DIR)\n' "$name" "$file" "$folder"; return 1; }
  done
  printf '  %-14s %s\n' "$name" "$folder"
  networks=yes
}
if there NSNet2 nsnet2 nsnet2_rebuilt.onnx; then
  compile "$folder/nsnet2_rebuilt.onnx" nsnet2 --state h1=h1n --state h2=h2n
  set -- "$@" --nsnet2 "$out/nsnet2.rnnp"
fi
if there DTLN dtln model_1.onnx model_2.onnx; then
  compile "$folder/model_1.onnx" dtln_1 --state input_3=tf_op_layer_stack_2
  compile "$folder/model_2.onnx" dtln_2 --state input_5=tf_op_layer_stack_5
  set -- "$@" --dtln "$out/dtln_1.rnnp" "$out/dtln_2.rnnp"
fi
if there DeepFilterNet3 deepfilternet3 enc.onnx erb_dec.onnx df_dec.onnx; then
  for part in enc erb_dec df_dec; do compile "$folder/$part.onnx" "dfn3_$part"; done
  set -- "$@" --deepfilternet3 "$out/dfn3_enc.rnnp" "$out/dfn3_erb_dec.rnnp" "$out/dfn3_df_dec.rnnp"
fi
if [ -z "$networks" ]; then
  echo "  instead        the project's own models: the voice detector as a gate, and kws_lstm, a test fixture"
  compile "$root/models/vad_gru/model.onnx" vad_gru
  compile "$root/models/kws_lstm/model.onnx" kws_lstm
  set -- "$@" --gate "$out/vad_gru.rnnp" --words "$out/kws_lstm.rnnp"
fi

if [ -f "$audio/silero_test_16k.wav" ]; then
  echo "  recordings     $audio"
  set -- "$@" --clean "$audio/silero_test_16k.wav"
  [ ! -f "$audio/dfn_noisy_snr0_48k.wav" ] || set -- "$@" --noisy "$audio/dfn_noisy_snr0_48k.wav"
elif [ -f "$sounds/Front_Center.wav" ]; then
  echo "  recordings     $sounds (no silero_test_16k.wav in $audio; RNNPACK_AUDIO_DIR)"
  set -- "$@" --clean
  for name in Front_Center Front_Left Front_Right Rear_Center Rear_Left Rear_Right Side_Left Side_Right; do
    set -- "$@" "$sounds/$name.wav"
  done
else
  echo "run_speech_demo.sh: no recordings in $audio, nor in $sounds (package alsa-utils)" >&2
  exit 77
fi
exec "$build/demo/speech_demo" "$@"
