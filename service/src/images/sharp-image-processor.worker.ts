// Worker process of the image processor: decodes one untrusted image at a time.
import { readSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import sharp from 'sharp';
import { examine, render } from './render-image.worker.ts';
import type { ExaminedImage, ImageRefusal, RenderedImage } from './image-processor.ts';
import type { Variant } from './variants/image-variant.ts';

/** The bytes of the image follow on the standard input. Without `variant`, the image is examined. */
export type ImageTask = {
  readonly sizeBytes: number;
  readonly maxPixels: number;
  readonly variant?: Variant;
};

/** `shouldRetire`: the process uses much memory, or has used much of its CPU time limit. */
export type ImageResult = { readonly result: ExaminedImage | RenderedImage; readonly shouldRetire: boolean };

const STANDARD_INPUT = 0;
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

/** A second thread makes only AVIF faster, for viewers; anything else would take 8 % more processor time. */
const AVIF_THREADS = Math.min(2, availableParallelism());

setInterval(() => {
  if (process.memoryUsage.rss() > MAX_RESIDENT_BYTES) process.exit(1);
}, 20).unref();
process.on('disconnect', () => process.exit(0));
process.on('message', (task: ImageTask) => void runTask(task));
process.send?.('ready');

async function runTask(task: ImageTask): Promise<void> {
  const result = await processImage(readInput(task.sizeBytes), task);
  const reply: ImageResult = { result, shouldRetire: shouldRetire() };
  process.send?.(reply);
}

/** Messages would copy the bytes several times. */
function readInput(sizeBytes: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  for (let start = 0; start < sizeBytes; ) {
    const length = readSync(STANDARD_INPUT, bytes, start, sizeBytes - start, null);
    // The service has ended, or could not read the file.
    if (length === 0) process.exit(1);
    start += length;
  }
  return bytes;
}

function shouldRetire(): boolean {
  const { user, system } = process.cpuUsage();
  return process.memoryUsage.rss() > RETIRE_RESIDENT_BYTES || user + system > RETIRE_CPU_MICROSECONDS;
}

async function processImage(
  bytes: Buffer,
  { variant, maxPixels }: ImageTask,
): Promise<ExaminedImage | RenderedImage> {
  sharp.concurrency(variant?.format === 'avif' && !variant.isImproved ? AVIF_THREADS : 1);
  try {
    return variant ? { bytes: await render(bytes, variant, maxPixels) } : await examine(bytes, maxPixels);
  } catch (error) {
    return { refused: toRefusal(error instanceof Error ? error.message : '') };
  }
}

/** Maps error messages of the libraries to our codes. */
function toRefusal(message: string): ImageRefusal {
  if (/pixel limit/i.test(message)) return 'picture_too_large';
  if (/out of memory|cannot allocate|allocation failed/i.test(message)) return 'too_demanding';
  return /premature end|truncated|unexpected end|not enough data/i.test(message) ? 'truncated' : 'not_media';
}
