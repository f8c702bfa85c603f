// Decodes one untrusted picture at a time, in a process that may be killed: hostile bytes make native code hang, crash and run out of memory.
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import sharp from 'sharp';
import { examine, render } from './drawing.worker.ts';
import type { Order, Reply } from './image-order.ts';
import type { Examined, ImageRefusal, Rendered } from './image-processor.ts';

const MIB = 1024 ** 2;
const MOST = 1024 * MIB;
const WORN = 384 * MIB;

/** Never all loaders: some read other files, or run programs. */
const LOADERS = [
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadNsgifBuffer',
  'VipsForeignLoadHeifBuffer',
];

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: LOADERS });
sharp.cache(false);
sharp.concurrency(Math.min(2, availableParallelism()));

const say = (reply: Reply) => process.send?.(reply);

setInterval(() => {
  if (process.memoryUsage.rss() > MOST) process.exit(1);
}, 20).unref();
process.on('disconnect', () => process.exit(0));
process.on('message', (order: Order) => void obey(order));
say({ kind: 'ready' });

async function obey(order: Order): Promise<void> {
  const bytes = await bytesOf(order);
  if (bytes)
    say({ kind: 'done', result: await draw(bytes, order), isWorn: process.memoryUsage.rss() > WORN });
  else say({ kind: 'unreadable' });
}

async function bytesOf({ source }: Order): Promise<Buffer | undefined> {
  if (typeof source !== 'string') return Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  return readFile(source).catch(() => undefined); // told to whoever asked
}

async function draw(bytes: Buffer, { variant, maxPixels }: Order): Promise<Examined | Rendered> {
  try {
    return variant ? { bytes: await render(bytes, variant, maxPixels) } : await examine(bytes, maxPixels);
  } catch (error) {
    return { refused: refusalOf(error instanceof Error ? error.message : '') };
  }
}

/** What the libraries say in words, in our codes. */
function refusalOf(message: string): ImageRefusal {
  if (/pixel limit/i.test(message)) return 'too_large_picture';
  return /premature end|truncated|unexpected end|not enough data/i.test(message) ? 'truncated' : 'not_media';
}
