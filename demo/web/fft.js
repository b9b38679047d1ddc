// fft.js -- the spectrum of a real frame and back, for sizes that are powers of two. Bins are [re, im] pairs. Nothing is allocated
// after the constructor. SPDX-License-Identifier: Apache-2.0
export class Fft {
  constructor(size) {
    this.size = size;
    this.bins = size / 2 + 1;
    this.work = new Float32Array(2 * size);
    this.roots = Float32Array.from({ length: 2 * size }, (_, i) => {
      const angle = (-2 * Math.PI * (i >> 1)) / size;
      return i % 2 === 0 ? Math.cos(angle) : Math.sin(angle);
    });
    this.place = new Uint32Array(size);
    for (let i = 1; i < size; ++i) this.place[i] = (this.place[i >> 1] >> 1) + (i % 2 === 0 ? 0 : size / 2);
  }

  // size floats -> 2 * bins floats
  forward(frame, spectrum) {
    const { size, work, place } = this;
    for (let i = 0; i < size; ++i) {
      work[2 * place[i]] = frame[i];
      work[2 * place[i] + 1] = 0;
    }
    this.#transform();
    for (let i = 0; i < 2 * this.bins; ++i) spectrum[i] = work[i];
  }

  // The conjugate of the transform of the conjugate, over the size; undoes forward.
  inverse(spectrum, frame) {
    const { size, bins, work, place } = this;
    for (let i = 0; i < size; ++i) {
      const from = i < bins ? i : size - i;
      work[2 * place[i]] = spectrum[2 * from];
      work[2 * place[i] + 1] = i < bins ? -spectrum[2 * from + 1] : spectrum[2 * from + 1];
    }
    this.#transform();
    for (let i = 0; i < size; ++i) frame[i] = work[2 * i] / size;
  }

  #transform() {
    const { size, work, roots } = this;
    for (let half = 1; half < size; half *= 2) {
      for (let base = 0; base < size; base += 2 * half) {
        for (let i = 0; i < half; ++i) {
          const root = 2 * i * (size / 2 / half), even = 2 * (base + i), odd = even + 2 * half;
          const re = work[odd] * roots[root] - work[odd + 1] * roots[root + 1];
          const im = work[odd] * roots[root + 1] + work[odd + 1] * roots[root];
          work[odd] = work[even] - re;
          work[odd + 1] = work[even + 1] - im;
          work[even] += re;
          work[even + 1] += im;
        }
      }
    }
  }
}

export function hann(size) {
  return Float32Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size));
}
