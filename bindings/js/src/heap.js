// heap.js -- room in the module's linear memory: blocks of whole cache lines, first fit, neighbours joined when freed. Only opening a
// model or a session allocates; steps and runs do not. SPDX-License-Identifier: Apache-2.0
const LINE = 64;
const PAGE = 65536;

export class Heap {
  #memory;
  #free = []; // [at, bytes], by address
  #taken = new Map(); // at -> bytes
  #end;
  growths = 0; // how often every view of the memory was detached

  constructor(memory, base) {
    this.#memory = memory;
    this.#end = Math.ceil(base / LINE) * LINE;
    this.#give(this.#end, memory.buffer.byteLength - this.#end);
  }

  get buffer() {
    return this.#memory.buffer;
  }
  get takenBytes() {
    let sum = 0;
    for (const bytes of this.#taken.values()) sum += bytes;
    return sum;
  }

  // The address of `bytes` bytes at a multiple of `align`, or 0 where there is no more memory. A block ends in a line that is free, so
  // a wider alignment is asked for as more bytes.
  take(bytes, align = LINE) {
    const size = Math.max(1, Math.ceil(bytes / LINE)) * LINE;
    for (let tries = 0; tries < 2; ++tries) {
      for (let i = 0; i < this.#free.length; ++i) {
        const [from, room] = this.#free[i];
        const at = Math.ceil(from / align) * align;
        if (at + size > from + room) continue;
        this.#free.splice(i, 1);
        if (at > from) this.#give(from, at - from);
        if (at + size < from + room) this.#give(at + size, from + room - at - size);
        this.#taken.set(at, size);
        return at;
      }
      if (!this.#grow(size + align)) return 0;
    }
    return 0;
  }

  free(at) {
    const bytes = this.#taken.get(at);
    if (bytes === undefined) throw new Error('rnnpack: memory freed twice');
    this.#taken.delete(at);
    this.#give(at, bytes);
  }

  #give(at, bytes) {
    if (bytes === 0) return;
    let i = this.#free.findIndex(([from]) => from > at);
    if (i < 0) i = this.#free.length;
    this.#free.splice(i, 0, [at, bytes]);
    for (const k of [i, i - 1]) {
      const here = this.#free[k], next = this.#free[k + 1];
      if (k < 0 || next === undefined || here[0] + here[1] !== next[0]) continue;
      here[1] += next[1];
      this.#free.splice(k + 1, 1);
    }
  }

  // At least doubles the memory, so that few calls detach views.
  #grow(bytes) {
    const before = this.#memory.buffer.byteLength;
    for (const wanted of [Math.max(bytes, before), bytes]) {
      try {
        this.#memory.grow(Math.ceil(wanted / PAGE));
      } catch {
        continue;
      }
      ++this.growths;
      this.#give(before, this.#memory.buffer.byteLength - before);
      return true;
    }
    return false;
  }
}
