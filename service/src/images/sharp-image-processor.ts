// Decodes and draws pictures with sharp in a few processes of their own: a deadline for each picture, and a fresh process after each that failed.
import type { ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { poolOf } from '../platform/pool.ts';
import type { Order } from './image-order.ts';
import type { Examined, ImageProcessor, ImageSource, Rendered } from './image-processor.ts';
import { answerOf, killProcess, startProcess } from './sharp-process.ts';

/** At least two, so that one slow picture holds nobody else up; at most four, for each may take a gigabyte. */
const CAGES = Math.min(4, Math.max(2, availableParallelism()));

/** Holds one process, started for its first picture and kept for the next. */
type Cage = { child?: Promise<ChildProcess> | undefined };
type Work = Omit<Order, 'source'> & { readonly source: ImageSource };

export function openSharpImageProcessor({
  maxPixels = 50_000_000,
  deadlineMs = 20_000,
} = {}): ImageProcessor {
  const cages = Array.from({ length: CAGES }, (): Cage => ({}));
  const pool = poolOf(cages);
  let closed = false;
  async function ask<T>(work: Omit<Work, 'maxPixels'>): Promise<T | { refused: 'too_demanding' }> {
    const cage = await pool.take();
    try {
      if (closed) throw new Error('the image processor is closed');
      return (
        ((await askIn(cage, { ...work, maxPixels }, deadlineMs)) as T | undefined) ?? {
          refused: 'too_demanding',
        }
      );
    } finally {
      pool.give(cage);
    }
  }
  return {
    takesHeif: isInstalled('libheif-js/wasm-bundle'),
    examine: (source) => ask<Examined>({ source }),
    render: (source, variant) => ask<Rendered>({ source, variant }),
    async close() {
      closed = true;
      await Promise.all(cages.map(empty));
    },
  };
}

/** Only a process that has answered, and is not swollen from it, is kept. */
async function askIn(
  cage: Cage,
  { source, ...work }: Work,
  deadlineMs: number,
): Promise<Examined | Rendered | undefined> {
  const order = { ...work, source: typeof source === 'string' ? source : await source() };
  let isKept = false;
  try {
    cage.child ??= startIn(cage);
    const done = await answerOf(await cage.child, order, deadlineMs);
    isKept = done?.isWorn === false;
    return done?.result;
  } finally {
    if (!isKept) await empty(cage);
  }
}

async function startIn(cage: Cage): Promise<ChildProcess> {
  const child = await startProcess();
  return child.once('exit', () => {
    cage.child = undefined;
  });
}

async function empty(cage: Cage): Promise<void> {
  const child = cage.child;
  cage.child = undefined;
  await child?.then(killProcess, () => {}); // one that never started is reported to whoever asked
}

/** Optional, for its licence and for the patents on what it decodes. */
function isInstalled(module: string): boolean {
  try {
    return createRequire(import.meta.url).resolve(module) !== '';
  } catch {
    return false; // That is the answer.
  }
}
