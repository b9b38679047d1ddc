// draw.js -- scrolling plots on canvases: a column of device pixels for each block of 128 samples. SPDX-License-Identifier: Apache-2.0
import { Fft, hann } from './fft.js';

const BLOCK = 128, FRAME = 256, FLOOR_DB = -90;

// Dark blue, violet, orange, yellow: rising lightness, so that it reads without colour too.
const STOPS = [[13, 14, 46], [84, 18, 109], [187, 55, 84], [249, 142, 8], [252, 255, 164]];
const COLOURS = Uint8ClampedArray.from({ length: 256 * 4 }, (_, i) => {
  const at = ((i >> 2) / 255) * (STOPS.length - 1), low = Math.min(Math.floor(at), STOPS.length - 2), part = i % 4;
  return part === 3 ? 255 : STOPS[low][part] + (STOPS[low + 1][part] - STOPS[low][part]) * (at - low);
});

class Scroll {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d', { alpha: true });
    this.fit();
  }
  // As many device pixels as the canvas has room for; what was drawn goes.
  fit() {
    const ratio = globalThis.devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    const [width, height] = [Math.max(1, Math.round(box.width * ratio)), Math.max(1, Math.round(box.height * ratio))];
    if (this.canvas.width === width && this.canvas.height === height) return;
    [this.canvas.width, this.canvas.height] = [width, height];
    this.column = this.context.createImageData(1, height);
  }
  colour(name) {
    return getComputedStyle(this.canvas).getPropertyValue(name);
  }
  // Moves the picture left and clears the last columns.
  shift(columns) {
    const { canvas, context } = this;
    context.globalCompositeOperation = 'copy';
    context.drawImage(canvas, -columns, 0);
    context.globalCompositeOperation = 'source-over';
    context.clearRect(canvas.width - columns, 0, columns, canvas.height);
  }
}

export class Wave extends Scroll {
  constructor(canvas, colour) {
    super(canvas);
    this.name = colour;
  }
  draw(samples) {
    const { canvas, context } = this, columns = samples.length / BLOCK, middle = canvas.height / 2;
    this.shift(columns);
    context.fillStyle = this.colour(this.name);
    for (let i = 0; i < columns; ++i) {
      let low = 0, high = 0;
      for (let k = i * BLOCK; k < (i + 1) * BLOCK; ++k) [low, high] = [Math.min(low, samples[k]), Math.max(high, samples[k])];
      // The square root shows quiet sounds too.
      const top = middle * (1 - Math.sqrt(Math.min(1, high))), bottom = middle * (1 + Math.sqrt(Math.min(1, -low)));
      context.fillRect(canvas.width - columns + i, top, 1, Math.max(1, bottom - top));
    }
  }
}

export class Spectrum extends Scroll {
  constructor(canvas) {
    super(canvas);
    this.fft = new Fft(FRAME);
    this.window = hann(FRAME);
    this.recent = new Float32Array(FRAME);
    this.frame = new Float32Array(FRAME);
    this.bins = new Float32Array(2 * this.fft.bins);
  }
  draw(samples) {
    const { canvas, context, column, recent } = this, columns = samples.length / BLOCK, { height } = canvas;
    this.shift(columns);
    for (let i = 0; i < columns; ++i) {
      recent.copyWithin(0, BLOCK);
      recent.set(samples.subarray(i * BLOCK, (i + 1) * BLOCK), FRAME - BLOCK);
      for (let k = 0; k < FRAME; ++k) this.frame[k] = recent[k] * this.window[k];
      this.fft.forward(this.frame, this.bins);
      for (let y = 0; y < height; ++y) {
        const bin = Math.floor(((height - 1 - y) / height) * (FRAME / 2));
        const power = (this.bins[2 * bin] ** 2 + this.bins[2 * bin + 1] ** 2) / (FRAME / 4) ** 2;
        const level = 8 * Math.max(0, Math.min(31, Math.round(31 * (1 - (10 * Math.log10(power + 1e-12)) / FLOOR_DB))));
        column.data.set(COLOURS.subarray(4 * level, 4 * level + 4), 4 * y);
      }
      context.putImageData(column, canvas.width - columns + i, 0);
    }
  }
}

// One number a block, 0 to 1; negative ones leave the place empty.
export class Line extends Scroll {
  draw(values) {
    const { canvas, context } = this, columns = values.length;
    this.shift(columns);
    context.fillStyle = this.colour('--edge');
    context.fillRect(canvas.width - columns, Math.round(canvas.height / 2), columns, 1);
    context.fillStyle = this.colour('--accent');
    values.forEach((value, i) => {
      if (value < 0) return;
      const top = (canvas.height - 2) * (1 - value);
      context.globalAlpha = value >= 0.5 ? 1 : 0.45;
      context.fillRect(canvas.width - columns + i, top, 1, canvas.height - top);
    });
    context.globalAlpha = 1;
  }
}
