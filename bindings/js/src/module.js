// module.js -- an instance of rnnpack.wasm: its memory, structs in it, strings out of it. Built from bytes: an AudioWorklet has no
// fetch, no TextDecoder and no timers. SPDX-License-Identifier: Apache-2.0
import { layouts, Status } from './abi.js';
import { errorOf } from './errors.js';
import { Heap } from './heap.js';

// UTF-8, by hand.
export function decodeText(bytes, at) {
  let text = '';
  while (bytes[at] !== 0) {
    const lead = bytes[at++];
    const more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    let point = more === 0 ? lead : lead & (0x3f >> more);
    for (let i = 0; i < more; ++i) point = (point << 6) | (bytes[at++] & 0x3f);
    text += String.fromCodePoint(point);
  }
  return text;
}

export class Module {
  constructor(instance) {
    this.call = instance.exports;
    this.heap = new Heap(this.call.memory, this.call.__heap_base.value);
  }

  get view() {
    return new DataView(this.heap.buffer);
  }
  text(at) {
    return at === 0 ? undefined : decodeText(new Uint8Array(this.heap.buffer), at);
  }
  take(bytes, align) {
    const at = this.heap.take(bytes, align);
    if (at === 0) throw errorOf(Status.E_SMALL_MEMORY, `rnnpack: the engine gives no ${bytes} bytes of memory`);
    return at;
  }
  // A struct of zeros with its struct_bytes set.
  struct(name) {
    const { bytes } = layouts[name], at = this.take(bytes);
    new Uint8Array(this.heap.buffer, at, bytes).fill(0);
    this.view.setUint32(at, bytes, true);
    return at;
  }
  get(name, at, member) {
    return this.view.getUint32(at + layouts[name][member], true);
  }
  get64(name, at, member) {
    return this.view.getBigUint64(at + layouts[name][member], true);
  }
  set(name, at, member, value) {
    this.view.setUint32(at + layouts[name][member], value, true);
  }
  // use(address) with a struct that is freed behind it.
  withStruct(name, use) {
    const at = this.struct(name);
    try {
      return use(at);
    } finally {
      this.heap.free(at);
    }
  }
  // A text that lives as long as use(address).
  withText(text, use) {
    const utf8 = unescape(encodeURIComponent(text));
    const at = this.take(utf8.length + 1);
    const bytes = new Uint8Array(this.heap.buffer, at, utf8.length + 1);
    for (let i = 0; i < utf8.length; ++i) bytes[i] = utf8.charCodeAt(i);
    bytes[utf8.length] = 0;
    try {
      return use(at);
    } finally {
      this.heap.free(at);
    }
  }
  check(status, doing, why = '') {
    if (status !== 0) throw errorOf(status, `${doing}: ${why || this.text(this.call.rnnp_status_string(status))}`);
  }
}
