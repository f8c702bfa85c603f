// Probes untrusted videos with mediabunny in caged worker threads: bounded heap, bounded reads, a deadline, and a fresh thread after each kill.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { poolOf } from '../platform/pool.ts';
import type { ByteSource, Container, Probe, ProbeResult } from './probe.ts';
import type { FromWorker, ToWorker } from './probe-message.ts';

/** Two, so that a file that hangs its thread holds nobody else up. */
const CAGES = 2;
const SCRIPT = new URL('./mediabunny-probe.worker.ts', import.meta.url);
const LIMITS = { maxOldGenerationSizeMb: 256, stackSizeMb: 4 };

/** Holds one thread, started for its first file and kept for the next. */
type Cage = { worker?: Promise<Worker> | undefined };
type Look = { readonly source: ByteSource; readonly container: Container; readonly deadlineMs: number };

export function openMediabunnyProbe({ deadlineMs = 10_000 } = {}): Probe {
  const cages = Array.from({ length: CAGES }, (): Cage => ({}));
  const pool = poolOf(cages);
  let closed = false;
  return {
    async probe(source, container) {
      const cage = await pool.take();
      try {
        if (closed) throw new Error('the probe is closed');
        return await lookIn(cage, { source, container, deadlineMs });
      } finally {
        pool.give(cage);
      }
    },
    async close() {
      closed = true;
      await Promise.all(cages.map(empty));
    },
  };
}

/** Only a thread that has answered is kept. */
async function lookIn(cage: Cage, look: Look): Promise<ProbeResult> {
  let answer: ProbeResult | undefined;
  try {
    cage.worker ??= startWorker(cage);
    answer = await answerOf(await cage.worker, look);
    return answer ?? { refused: 'not_media' };
  } finally {
    if (!answer) await empty(cage);
  }
}

async function startWorker(cage: Cage): Promise<Worker> {
  const worker = new Worker(SCRIPT, { env: {}, execArgv: [], resourceLimits: LIMITS });
  await once(worker, 'message');
  worker.unref();
  worker.on('error', () => {}); // told to whoever waits for the answer; without a listener it would end the process
  worker.on('exit', () => {
    cage.worker = undefined;
  });
  return worker;
}

async function empty(cage: Cage): Promise<void> {
  const worker = cage.worker;
  cage.worker = undefined;
  await worker?.then(
    (thread) => thread.terminate(),
    () => {},
  ); // a thread that never started is reported to its caller
}

/** undefined where the thread dies of the file or is still busy with it at the deadline. Rejects where the bytes cannot be read. */
async function answerOf(
  worker: Worker,
  { source, container, deadlineMs }: Look,
): Promise<ProbeResult | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<ProbeResult | undefined>();
  const tell = (message: ToWorker, transfer: ArrayBuffer[] = []) => worker.postMessage(message, transfer);
  let reading = 0;
  const hear = (message: FromWorker) => {
    if (message.kind === 'seen') resolve(message.result);
    if (message.kind !== 'read') return;
    reading += 1;
    bytesOf(source, message)
      .then((bytes) => {
        reading -= 1;
        tell({ kind: 'bytes', id: message.id, bytes }, [bytes.buffer]);
      })
      .catch(reject);
  };
  const giveUp = () =>
    reading > 0 ? reject(new Error('the bytes came too slowly to be probed')) : resolve(undefined);
  const timer = setTimeout(giveUp, deadlineMs);
  const died = () => resolve(undefined);
  const ended = () => reject(new Error('the probe was closed'));
  worker.on('message', hear).once('error', died).once('exit', ended);
  tell({ kind: 'look', container, sizeBytes: source.sizeBytes });
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off('message', hear).off('error', died).off('exit', ended);
  });
}

/** A copy in a buffer of its own, so that it can be handed over: the source's may be part of a pool. */
async function bytesOf(
  source: ByteSource,
  { start, end }: { start: number; end: number },
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(await source.read(start, end));
  if (bytes.length !== end - start)
    throw new Error(`the source gave ${bytes.length} bytes instead of ${end - start}`);
  return bytes;
}
