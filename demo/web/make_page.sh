#!/bin/sh
# make_page.sh BUILD [FOLDER] -- puts the page together in FOLDER (BUILD/web): its files, the modules, blobs and sounds. Any web server
# serves it: python3 -m http.server -d BUILD/web (make demo-web). Noise suppression is offered where RNNPACK_MODELS_DIR has nsnet2/nsnet2_rebuilt.onnx or
# dtln/model_1.onnx and model_2.onnx. SPDX-License-Identifier: Apache-2.0
set -eu
build=$1
out=${2:-$build/web}
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
models=${RNNPACK_MODELS_DIR:-$root/../shared/models}
sounds=${RNNPACK_DEMO_SOUNDS:-/usr/share/sounds/alsa}
[ -f "$root/bindings/js/rnnpack.wasm" ] && [ -f "$root/bindings/js/rnnpack-scalar.wasm" ] || "$root/bindings/js/build.sh" "$build"
mkdir -p "$out/rnnpack" "$out/blobs" "$out/sounds"
cp "$here"/*.html "$here"/*.css "$here"/*.js "$out/"
cp "$root"/bindings/js/*.wasm "$root"/bindings/js/src/*.js "$out/rnnpack/"

compile() {  # compile ONNX BLOB [--state INPUT=OUTPUT]...
  onnx=$1 blob=$out/blobs/$2.rnnp
  shift 2
  "$build/src/compiler/rnnpack" compile "$onnx" -o "$blob" "$@" >"$out/compile.log" 2>&1 || { cat "$out/compile.log"; exit 1; }
}
compile "$root/models/vad_gru/model.onnx" vad_gru
{
  printf '[\n  { "name": "Voice detection (vad_gru)", "kind": "detector", "blobs": ["blobs/vad_gru.rnnp"] },\n'
  printf '  { "name": "Voice gate (vad_gru)", "kind": "gate", "blobs": ["blobs/vad_gru.rnnp"] }'
  if [ -f "$models/nsnet2/nsnet2_rebuilt.onnx" ]; then
    compile "$models/nsnet2/nsnet2_rebuilt.onnx" nsnet2 --state h1=h1n --state h2=h2n
    printf ',\n  { "name": "Noise suppression (NSNet2)", "kind": "nsnet2", "blobs": ["blobs/nsnet2.rnnp"] }'
  fi
  if [ -f "$models/dtln/model_1.onnx" ] && [ -f "$models/dtln/model_2.onnx" ]; then
    compile "$models/dtln/model_1.onnx" dtln_1 --state input_3=tf_op_layer_stack_2
    compile "$models/dtln/model_2.onnx" dtln_2 --state input_5=tf_op_layer_stack_5
    printf ',\n  { "name": "Noise suppression (DTLN)", "kind": "dtln", "blobs": ["blobs/dtln_1.rnnp", "blobs/dtln_2.rnnp"] }'
  fi
  printf '\n]\n'
} >"$out/networks.json"
python3 "$here/make_sound.py" "$sounds" "$out"
rm -f "$out/compile.log"
