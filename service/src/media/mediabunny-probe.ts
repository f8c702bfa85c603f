// Probes untrusted videos with mediabunny in sandboxed processes: bounded memory, reads and time, and fair turns between owners.
import { availableParallelism } from 'node:os';
import { openChildPool } from '../platform/process/child-pool.ts';
import type { Failure, Heard } from '../platform/process/conversation.ts';
import { busy } from '../platform/process/fair-slots.ts';
import { limitsAlone, type ProcessLimits, type Sandbox } from '../platform/process/sandbox.ts';
import type { ByteSource, Probe, ProbeResult } from './probe.ts';
import { type FromWorker, PROBE_BYTES, type ToWorker } from './probe-message.ts';

/** More than one owner may use at once, so that a free one is left for the others. */
const CHILDREN = Math.min(8, Math.max(4, availableParallelism()));
const SCRIPT = new URL('./mediabunny-probe.worker.ts', import.meta.url);
const FLAGS = ['--max-old-space-size=256'];
/** An idle Node has 600 MB of reserved data segment; heap and 64 MiB of bytes fit on top. */
const LIMITS: ProcessLimits = { cpuSeconds: 120, fileBytes: 0, openFiles: 64, dataBytes: 1024 ** 3 };

export type ProbeOptions = {
  readonly sandbox?: Sandbox;
  readonly deadlineMs?: number;
  /** Probes of one owner at the same time. */
  readonly perOwner?: number;
  /** How long a file waits for its turn. */
  readonly waitMs?: number;
};

export function openMediabunnyProbe({
  sandbox = limitsAlone(),
  deadlineMs = 2000,
  perOwner = 2,
  waitMs = 10_000,
}: ProbeOptions = {}): Probe {
  const pool = openChildPool({
    sandbox,
    script: SCRIPT,
    flags: FLAGS,
    limits: LIMITS,
    children: Math.max(CHILDREN, perOwner + 1),
    perOwner,
    waitMs,
  });
  return {
    async probe(source, container, owner) {
      const request: ToWorker = { kind: 'look', container, sizeBytes: source.sizeBytes };
      const hear = reader(source);
      const outcome = await pool.run<ProbeResult>({ deadlineMs, open: () => request, hear }, owner);
      return 'result' in outcome ? outcome.result : resultOf(outcome.failed);
    },
    close: () => pool.close(),
  };
}

/** A file that ends its process, or keeps it busy, is refused; one that we or the machine held up is not judged. */
function resultOf(failed: Failure): ProbeResult {
  if (failed === 'unanswered') throw new Error('the bytes came too slowly to be probed');
  if (failed === 'starved') throw busy();
  return { refused: 'not_media' };
}

/** The worker keeps to its budget itself; one that was taken over by its file does not. */
function reader(source: ByteSource): (message: unknown) => Promise<Heard<ProbeResult>> {
  let left = PROBE_BYTES;
  return async (received) => {
    const message = received as FromWorker;
    if (message.kind === 'seen') return message;
    left -= message.end - message.start;
    if (!isRangeWithin(message, source.sizeBytes) || left < 0)
      return { result: { refused: 'not_media' }, isWorn: true };
    const reply: ToWorker = { kind: 'bytes', id: message.id, bytes: await bytesOf(source, message) };
    return { reply };
  };
}

type Range = { readonly start: number; readonly end: number };

const isRangeWithin = ({ start, end }: Range, size: number): boolean =>
  Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end && end <= size;

async function bytesOf(source: ByteSource, { start, end }: Range): Promise<Uint8Array> {
  const bytes = await source.read(start, end);
  if (bytes.length !== end - start)
    throw new Error(`the source gave ${bytes.length} bytes instead of ${end - start}`);
  return bytes;
}
