// Decodes and renders images with sharp in sandboxed processes, with a deadline per image.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { type ChildPool, openChildPool } from '../platform/process/child-pool.ts';
import type { HandledMessage } from '../platform/process/child-task.ts';
import { createLimitsOnlySandbox, type ProcessLimits, type Sandbox } from '../platform/process/sandbox.ts';
import type { ImageTask, Reply } from './image-task.ts';
import type { Examined, ImageProcessor, ImageSource, Rendered } from './image-processor.ts';
import type { Variant } from './image-variant.ts';

/** At least two, so that a slow image does not delay others; at most four, because each may use 1 GiB of memory. */
const CHILDREN = Math.min(4, Math.max(2, availableParallelism()));
const SCRIPT = new URL('./sharp-image-processor.worker.ts', import.meta.url);
/** 512 MiB for the WebAssembly decoder of HEIF. */
const FLAGS = ['--max-old-space-size=256', '--wasm-max-mem-pages=8192'];
/** An idle Node process reserves a data segment of 600 MB; an image may use 1 GiB more. */
const LIMITS: ProcessLimits = { cpuSeconds: 600, fileBytes: 0, openFiles: 64, dataBytes: 1.6 * 1024 ** 3 };

type ImageProcessorOptions = {
  readonly sandbox?: Sandbox;
  readonly maxPixels?: number;
  readonly deadlineMs?: number;
};

/** Jobs and viewers have separate pools, so that slow variants do not delay new uploads. */
export function openSharpImageProcessor({
  sandbox = createLimitsOnlySandbox(),
  maxPixels = 50_000_000,
  deadlineMs = 20_000,
}: ImageProcessorOptions = {}): ImageProcessor {
  const open = () =>
    openChildPool({ sandbox, script: SCRIPT, flags: FLAGS, limits: LIMITS, children: CHILDREN });
  const [forJobs, forViewers] = [open(), open()];
  const run = (pool: ChildPool, source: ImageSource, variant?: Variant) =>
    processImage(pool, { source, maxPixels, deadlineMs, ...(variant && { variant }) });
  return {
    takesHeif: isInstalled('libheif-js/wasm-bundle'),
    examine: (source) => run(forJobs, source) as Promise<Examined>,
    render: (source, variant) => run(forViewers, source, variant) as Promise<Rendered>,
    async close() {
      await Promise.all([forJobs.close(), forViewers.close()]);
    },
  };
}

type ProcessOptions = Omit<ImageTask, 'source'> & {
  readonly source: ImageSource;
  readonly deadlineMs: number;
};

async function processImage(
  pool: ChildPool,
  { source, deadlineMs, ...options }: ProcessOptions,
): Promise<Examined | Rendered> {
  const buildRequest = async (): Promise<ImageTask> => ({ ...options, source: await bytesOf(source) });
  const outcome = await pool.run<Examined | Rendered>({ deadlineMs, buildRequest, onMessage });
  return 'result' in outcome ? outcome.result : { refused: 'too_demanding' };
}

const onMessage = (message: unknown): HandledMessage<Examined | Rendered> => message as Reply;

/** Reads the file here, because the decoder process has no access to files. */
async function bytesOf(source: ImageSource): Promise<Uint8Array> {
  if (typeof source !== 'string') return source();
  return readFile(source).catch((cause: unknown) => {
    throw new Error('the image could not be read', { cause });
  });
}

/** The HEIF decoder is optional because of its licence and patents. */
function isInstalled(module: string): boolean {
  try {
    return createRequire(import.meta.url).resolve(module) !== '';
  } catch {
    return false; // The package is not installed.
  }
}
