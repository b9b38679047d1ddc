// rnnpack.js -- recurrent networks from packed blobs, in WebAssembly: Rnnpack, Model, Session. No imports, no threads, no fetch.
// SPDX-License-Identifier: Apache-2.0
import { errorOf, errors, RnnpackError, StaleError } from './errors.js';
import { Model } from './model.js';
import { Module } from './module.js';
import { Session } from './session.js';

export { errors, Model, RnnpackError, Session, StaleError };

// (func (result v128) i32.const 0 i8x16.splat), which engines without simd128 do not accept.
const SIMD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11];

export class Rnnpack {
  #module;

  constructor(instance) {
    this.#module = new Module(instance);
  }

  // Which of the two modules this engine runs: rnnpack.wasm, else rnnpack-scalar.wasm.
  static hasSimd() {
    return WebAssembly.validate(new Uint8Array(SIMD));
  }
  // From the module's bytes, or from a WebAssembly.Module.
  static async load(wasm) {
    const made = await WebAssembly.instantiate(wasm, {});
    return new Rnnpack(made.instance ?? made);
  }
  // The same at once, for an AudioWorkletProcessor's constructor.
  static loadSync(wasm) {
    return new Rnnpack(new WebAssembly.Instance(wasm instanceof WebAssembly.Module ? wasm : new WebAssembly.Module(wasm), {}));
  }

  // A blob, copied into the module's memory once. checkWeights: its weights' checksum as well.
  open(blob, { checkWeights = false } = {}) {
    return new Model(this.#module, blob, checkWeights);
  }
  get version() {
    const number = this.#module.call.rnnp_version();
    return `${Math.floor(number / 10000)}.${Math.floor(number / 100) % 100}.${number % 100}`;
  }
  // The error of a status, with the library's text.
  error(status) {
    return errorOf(status, this.#module.text(this.#module.call.rnnp_status_string(status)));
  }
  // Bytes of the module's memory that models and sessions hold, and all of it.
  get memory() {
    return { taken: this.#module.heap.takenBytes, all: this.#module.heap.buffer.byteLength };
  }
}
