// Decodes one untrusted picture at a time, in a process that may be killed: hostile bytes make native code hang, crash and run out of memory.
import { availableParallelism } from 'node:os';
import sharp from 'sharp';
import { examine, render } from './drawing.worker.ts';
import type { ImageTask, Reply } from './image-task.ts';
import type { Examined, ImageRefusal, Rendered } from './image-processor.ts';

const MIB = 1024 ** 2;
/** Second to the kernel's limit, which does not exist everywhere. */
const MOST = 1024 * MIB;
const WORN = 384 * MIB;
const WORN_CPU_MICROSECONDS = 300_000_000;

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

setInterval(() => {
  if (process.memoryUsage.rss() > MOST) process.exit(1);
}, 20).unref();
process.on('disconnect', () => process.exit(0));
process.on('message', (order: ImageTask) => void obey(order));
process.send?.('ready');

async function obey(order: ImageTask): Promise<void> {
  const { buffer, byteOffset, byteLength } = order.source;
  const result = await draw(Buffer.from(buffer, byteOffset, byteLength), order);
  const reply: Reply = { result, shouldRetire: shouldRetire() };
  process.send?.(reply);
}

function shouldRetire(): boolean {
  const { user, system } = process.cpuUsage();
  return process.memoryUsage.rss() > WORN || user + system > WORN_CPU_MICROSECONDS;
}

async function draw(bytes: Buffer, { variant, maxPixels }: ImageTask): Promise<Examined | Rendered> {
  try {
    return variant ? { bytes: await render(bytes, variant, maxPixels) } : await examine(bytes, maxPixels);
  } catch (error) {
    return { refused: refusalOf(error instanceof Error ? error.message : '') };
  }
}

/** What the libraries say in words, in our codes. */
function refusalOf(message: string): ImageRefusal {
  if (/pixel limit/i.test(message)) return 'too_large_picture';
  if (/out of memory|cannot allocate|allocation failed/i.test(message)) return 'too_demanding';
  return /premature end|truncated|unexpected end|not enough data/i.test(message) ? 'truncated' : 'not_media';
}
