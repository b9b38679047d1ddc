// palette.mjs -- a PNG of 8-bit colours as one with a palette: pages of docs/ carry small pictures. SPDX-License-Identifier: Apache-2.0
import { deflateSync, inflateSync } from 'node:zlib';

const CRC = Int32Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; ++k) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1; return n; });

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]), out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeInt32BE(~body.reduce((crc, byte) => CRC[(crc ^ byte) & 255] ^ (crc >>> 8), -1), body.length + 4);
  return out;
}

function decode(png) {
  const parts = [];
  let head;
  for (let at = 8; at < png.length;) {
    const bytes = png.readUInt32BE(at), type = png.toString('latin1', at + 4, at + 8), data = png.subarray(at + 8, at + 8 + bytes);
    if (type === 'IHDR') head = { width: data.readUInt32BE(0), height: data.readUInt32BE(4), size: data[9] === 6 ? 4 : 3 };
    if (type === 'IDAT') parts.push(data);
    at += bytes + 12;
  }
  const { width, height, size } = head, row = width * size, raw = inflateSync(Buffer.concat(parts)), pixels = Buffer.alloc(row * height);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (row + 1)];
    for (let x = 0; x < row; ++x) {
      const left = x < size ? 0 : pixels[y * row + x - size], up = y === 0 ? 0 : pixels[(y - 1) * row + x];
      const corner = x < size || y === 0 ? 0 : pixels[(y - 1) * row + x - size];
      const [a, b, c] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs);
      const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      pixels[y * row + x] = raw[y * (row + 1) + 1 + x] + [0, left, up, (left + up) >> 1, paeth][filter];
    }
  }
  return { ...head, pixels };
}

export function withPalette(png) {
  const { width, height, size, pixels } = decode(png), colours = new Map(), rows = Buffer.alloc((width + 1) * height);
  for (let i = 0; i < width * height; ++i) {
    // Colours that agree in four bits of each part become the first of them; the 257th kind becomes the last.
    const colour = [...pixels.subarray(i * size, i * size + 3)], key = colour.map((part) => part >> 4).join();
    if (!colours.has(key) && colours.size < 256) colours.set(key, { at: colours.size, colour });
    rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = colours.get(key)?.at ?? 255;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const palette = Buffer.from([...colours.values()].flatMap(({ colour }) => colour));
  return Buffer.concat([png.subarray(0, 8), chunk('IHDR', head), chunk('PLTE', palette), chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}
