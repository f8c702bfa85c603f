// Decodes and draws pictures with sharp in sandboxed processes: a deadline for each picture, and a fresh process after each that failed.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { type ChildPool, openChildPool } from '../platform/process/child-pool.ts';
import type { HandledMessage } from '../platform/process/child-task.ts';
import { createLimitsOnlySandbox, type ProcessLimits, type Sandbox } from '../platform/process/sandbox.ts';
import type { ImageTask, Reply } from './image-task.ts';
import type { Examined, ImageProcessor, ImageSource, Rendered } from './image-processor.ts';
import type { Variant } from './image-variant.ts';

/** At least two, so that one slow picture delays no other; at most four, since each may take a gigabyte. */
const CHILDREN = Math.min(4, Math.max(2, availableParallelism()));
const SCRIPT = new URL('./sharp-image-processor.worker.ts', import.meta.url);
/** 512 MiB for WebAssembly, in which HEIF is decoded. */
const FLAGS = ['--max-old-space-size=256', '--wasm-max-mem-pages=8192'];
/** An idle Node has 600 MB of reserved data segment; a picture may take 1 GiB on top. */
const LIMITS: ProcessLimits = { cpuSeconds: 600, fileBytes: 0, openFiles: 64, dataBytes: 1.6 * 1024 ** 3 };

export type ImageProcessorOptions = {
  readonly sandbox?: Sandbox;
  readonly maxPixels?: number;
  readonly deadlineMs?: number;
};

/** Jobs and viewers have processes of their own: slow variants delay no new upload. */
export function openSharpImageProcessor({
  sandbox = createLimitsOnlySandbox(),
  maxPixels = 50_000_000,
  deadlineMs = 20_000,
}: ImageProcessorOptions = {}): ImageProcessor {
  const open = () =>
    openChildPool({ sandbox, script: SCRIPT, flags: FLAGS, limits: LIMITS, children: CHILDREN });
  const [forJobs, forViewers] = [open(), open()];
  const ask = (pool: ChildPool, source: ImageSource, variant?: Variant) =>
    draw(pool, { source, maxPixels, deadlineMs, ...(variant && { variant }) });
  return {
    takesHeif: isInstalled('libheif-js/wasm-bundle'),
    examine: (source) => ask(forJobs, source) as Promise<Examined>,
    render: (source, variant) => ask(forViewers, source, variant) as Promise<Rendered>,
    async close() {
      await Promise.all([forJobs.close(), forViewers.close()]);
    },
  };
}

type Work = Omit<ImageTask, 'source'> & { readonly source: ImageSource; readonly deadlineMs: number };

async function draw(pool: ChildPool, { source, deadlineMs, ...order }: Work): Promise<Examined | Rendered> {
  const buildRequest = async (): Promise<ImageTask> => ({ ...order, source: await bytesOf(source) });
  const outcome = await pool.run<Examined | Rendered>({ deadlineMs, buildRequest, onMessage });
  return 'result' in outcome ? outcome.result : { refused: 'too_demanding' };
}

const onMessage = (message: unknown): HandledMessage<Examined | Rendered> => message as Reply;

/** Read here: the process that decodes has no access to files. */
async function bytesOf(source: ImageSource): Promise<Uint8Array> {
  if (typeof source !== 'string') return source();
  return readFile(source).catch((cause: unknown) => {
    throw new Error('the picture could not be read', { cause });
  });
}

/** Optional, for its licence and for the patents on what it decodes. */
function isInstalled(module: string): boolean {
  try {
    return createRequire(import.meta.url).resolve(module) !== '';
  } catch {
    return false; // That is the answer.
  }
}
