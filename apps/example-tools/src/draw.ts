// An image as a result: a shape, painted into a PNG.
import { crc32, deflateSync } from 'node:zlib';
import { z } from 'zod';
import { defineTool, image } from '@dormouse/tool-server';

const colours = { red: [214, 48, 49], green: [0, 148, 50], blue: [9, 86, 190], black: [24, 24, 27] } as const;
const shapes = ['circle', 'square', 'triangle'] as const;
type Shape = (typeof shapes)[number];
type Colour = keyof typeof colours;

export const draw = defineTool(
  {
    name: 'draw',
    description: 'Draws a circle, a square or a triangle in a colour, as an image.',
    input: z.strictObject({
      shape: z.enum(shapes).default('circle'),
      color: z.enum(Object.keys(colours) as [Colour, ...Colour[]]).default('red'),
      size: z.number().int().min(8).max(512).default(96).describe('Width and height in pixels'),
    }),
    annotations: { readOnly: true },
  },
  ({ shape, color, size }) =>
    image({
      data: png(size, (x, y) => (isInside(shape, x, y) ? colours[color] : [255, 255, 255])),
      mediaType: 'image/png',
      description: `A ${color} ${shape} on white, ${size} by ${size} pixels (image/png). The image is attached.`,
    }),
);

/** `x` and `y` go from -1 to 1. */
function isInside(shape: Shape, x: number, y: number): boolean {
  switch (shape) {
    case 'circle':
      return x * x + y * y <= 0.64;
    case 'square':
      return Math.abs(x) <= 0.7 && Math.abs(y) <= 0.7;
    case 'triangle':
      return y <= 0.7 && Math.abs(x) <= (y + 0.8) / 2;
  }
}

/** A PNG of 8-bit RGB without interlacing: signature, header, pixels, end. */
function png(size: number, pixel: (x: number, y: number) => readonly [number, number, number]): Buffer {
  const rows = Array.from({ length: size }, (_, row) => {
    const pixels = Array.from({ length: size }, (_unused, column) =>
      pixel(((column + 0.5) / size) * 2 - 1, ((row + 0.5) / size) * 2 - 1),
    );
    return Buffer.from([0, ...pixels.flat()]); // 0: no filter
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.of()),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
