// audio.js -- the audio graph around the processor: the module and the networks as bytes, the node, the sources.
// SPDX-License-Identifier: Apache-2.0
import { Rnnpack } from './rnnpack/rnnpack.js';

export async function bytesOf(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}

// A node that runs a setup { kind, blobs: [ArrayBuffer], isa }; rejects where its network does not open. `simd`: which module.
export async function makeNode(context, setup, { simd = Rnnpack.hasSimd() } = {}) {
  await context.audioWorklet.addModule(new URL('worklet.js', import.meta.url));
  const wasm = await bytesOf(new URL(simd ? 'rnnpack/rnnpack.wasm' : 'rnnpack/rnnpack-scalar.wasm', import.meta.url));
  const node = new AudioWorkletNode(context, 'rnnpack', { numberOfInputs: 1, numberOfOutputs: 2, outputChannelCount: [1, 1],
    channelCount: 1, channelCountMode: 'explicit', processorOptions: { wasm, setup } });
  const ready = await new Promise((resolve, reject) => {
    node.port.onmessage = ({ data }) => {
      if (data.ready) resolve(data.ready);
      else reject(new Error(data.error));
    };
    node.onprocessorerror = () => reject(new Error('the audio processor failed'));
  });
  return { node, ready };
}

const REFUSALS = {
  NotAllowedError: 'The microphone was refused. Allow it in the browser’s settings for this page, or choose a file.',
  NotFoundError: 'No microphone was found. Plug one in, or choose a file.',
  NotReadableError: 'The microphone is in use by another program, or the system refuses it.',
  OverconstrainedError: 'No microphone fits what this page asks for.',
};

// The microphone as it is: without the browser's own noise suppression.
export async function openMicrophone() {
  if (!navigator.mediaDevices?.getUserMedia) throw new Error('This page has no microphone: it must come from https or from localhost.');
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, noiseSuppression: false, echoCancellation: false, autoGainControl: false } });
  } catch (error) {
    throw new Error(REFUSALS[error.name] ?? `The microphone does not open: ${error.message}`);
  }
}

export async function decodeFile(context, bytes, name) {
  try {
    return await context.decodeAudioData(bytes);
  } catch {
    throw new Error(`${name} is no audio file that this browser reads.`);
  }
}
