// Worker process of the image processor: decodes one untrusted image at a time.
import { availableParallelism } from 'node:os';
import sharp from 'sharp';
import { examine, render } from './render-image.worker.ts';
import type { ExaminedImage, ImageRefusal, RenderedImage } from './image-processor.ts';
import type { Variant } from './image-variant.ts';

/** Without `variant`, the image is examined. */
export type ImageTask = {
  readonly source: Uint8Array;
  readonly maxPixels: number;
  readonly variant?: Variant;
};

/** `shouldRetire`: the process uses much memory, or has used much of its CPU time limit. */
export type ImageResult = { readonly result: ExaminedImage | RenderedImage; readonly shouldRetire: boolean };

const MIB = 1024 ** 2;
/** Additional to the kernel's memory limit, which not every system supports. */
const MAX_RESIDENT_BYTES = 1024 * MIB;
const RETIRE_RESIDENT_BYTES = 384 * MIB;
const RETIRE_CPU_MICROSECONDS = 300_000_000;

/** Only these loaders are enabled: others read files or run programs. */
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

/** A second thread makes only AVIF faster; anything else would take 8 % more processor time. */
const AVIF_THREADS = Math.min(2, availableParallelism());

setInterval(() => {
  if (process.memoryUsage.rss() > MAX_RESIDENT_BYTES) process.exit(1);
}, 20).unref();
process.on('disconnect', () => process.exit(0));
process.on('message', (task: ImageTask) => void runTask(task));
process.send?.('ready');

async function runTask(task: ImageTask): Promise<void> {
  const { buffer, byteOffset, byteLength } = task.source;
  const result = await processImage(Buffer.from(buffer, byteOffset, byteLength), task);
  const reply: ImageResult = { result, shouldRetire: shouldRetire() };
  process.send?.(reply);
}

function shouldRetire(): boolean {
  const { user, system } = process.cpuUsage();
  return process.memoryUsage.rss() > RETIRE_RESIDENT_BYTES || user + system > RETIRE_CPU_MICROSECONDS;
}

async function processImage(
  bytes: Buffer,
  { variant, maxPixels }: ImageTask,
): Promise<ExaminedImage | RenderedImage> {
  sharp.concurrency(variant?.format === 'avif' ? AVIF_THREADS : 1);
  try {
    return variant ? { bytes: await render(bytes, variant, maxPixels) } : await examine(bytes, maxPixels);
  } catch (error) {
    return { refused: toRefusal(error instanceof Error ? error.message : '') };
  }
}

/** Maps error messages of the libraries to our codes. */
function toRefusal(message: string): ImageRefusal {
  if (/pixel limit/i.test(message)) return 'too_large_picture';
  if (/out of memory|cannot allocate|allocation failed/i.test(message)) return 'too_demanding';
  return /premature end|truncated|unexpected end|not enough data/i.test(message) ? 'truncated' : 'not_media';
}
