// Probes untrusted video and audio files with mediabunny, in sandboxed processes with limits.
import { busy, unavailable } from '../platform/http/errors.ts';
import type { AcquireSlot } from '../platform/process/fair-slots.ts';
import type { ChildPool } from '../platform/process/child-pool.ts';
import type { ChildProgram, HandledMessage, TaskFailure } from '../platform/process/child.ts';
import type { ProbedFormat } from '@mediary/media-rules/probe-file';
import type { DefaultContainer, ProbeResult } from '@mediary/media-rules/video-facts';
import type { AudioProbe, ByteSource, Probe } from './probe.ts';
import type { ServiceMessage, WorkerMessage } from './mediabunny-probe.worker.ts';

/** Maximum number of bytes that a probe reads of one file (contract B4). */
const MAX_BYTES = 64 * 1024 * 1024;

const PROGRAM: ChildProgram = {
  script: new URL('./mediabunny-probe.worker.ts', import.meta.url),
  flags: ['--max-old-space-size=256'],
  // An idle Node process reserves a data segment of 600 MB; heap and 64 MiB of bytes fit on top.
  limits: { cpuSeconds: 120, fileBytes: 0, openFiles: 64, dataBytes: 1024 ** 3 },
};

type ProbeOptions = { readonly deadlineMs: number; readonly acquire: AcquireSlot };

export function openMediabunnyProbe(
  pool: ChildPool,
  { deadlineMs, acquire }: ProbeOptions,
): Probe<DefaultContainer> & AudioProbe {
  const run = pool.addKind({ program: PROGRAM, acquire });
  const probe = async (source: ByteSource, format: ProbedFormat, owner: string) => {
    const { sizeBytes } = source;
    const message: ServiceMessage = { kind: 'probe', format, sizeBytes, maxBytes: MAX_BYTES };
    const onMessage = createReadHandler(source);
    const buildRequest = () => ({ message });
    const outcome = await run<ProbeResult>({ deadlineMs, buildRequest, onMessage }, owner);
    return 'result' in outcome ? outcome.result : toProbeResult(outcome.failed);
  };
  return {
    probe: (source, container, owner = '') => probe(source, { kind: 'video', container }, owner),
    probeAudio: (source, container, owner = '') => probe(source, { kind: 'audio', container }, owner),
  };
}

/** Rejects a file that crashes or blocks its process, but not because the store or the machine is slow. */
function toProbeResult(failed: TaskFailure): ProbeResult {
  if (failed === 'unanswered')
    throw unavailable('The object store did not return the bytes of the file in time. Retry later.');
  if (failed === 'starved') throw busy();
  return { refused: 'not_media' };
}

/** Enforces the read budget again, because a hostile file could take over the worker. */
function createReadHandler(source: ByteSource): (message: unknown) => Promise<HandledMessage<ProbeResult>> {
  let remaining = MAX_BYTES;
  return async (received) => {
    const message = received as WorkerMessage;
    if (message.kind === 'result') return message;
    remaining -= message.end - message.start;
    if (!isRangeWithin(message, source.sizeBytes) || remaining < 0)
      return { result: { refused: 'not_media' }, shouldRetire: true };
    const reply: ServiceMessage = {
      kind: 'bytes',
      id: message.id,
      bytes: await readExactly(source, message),
    };
    return { reply };
  };
}

type Range = { readonly start: number; readonly end: number };

const isRangeWithin = ({ start, end }: Range, size: number): boolean =>
  Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end && end <= size;

async function readExactly(source: ByteSource, { start, end }: Range): Promise<Uint8Array> {
  const bytes = await source.read(start, end);
  if (bytes.length !== end - start)
    throw new Error(`the source returned ${bytes.length} bytes instead of ${end - start}`);
  return bytes;
}
