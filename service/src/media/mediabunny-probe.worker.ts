// Worker process of the probe: parses one untrusted file at a time, which may hang or exhaust memory.
import { CustomSource, Input, Logging, LogLevel } from 'mediabunny';
import { inputFormatsOf, type ProbedFormat, probeFile } from '@mediary/media-rules/probe-file';
import type { ProbeResult } from '@mediary/media-rules/video-facts';

export type ServiceMessage =
  | {
      readonly kind: 'probe';
      readonly format: ProbedFormat;
      readonly sizeBytes: number;
      readonly maxBytes: number;
    }
  | { readonly kind: 'bytes'; readonly id: number; readonly bytes: Uint8Array };

/** `shouldRetire`: the process has used much of its CPU time limit. */
export type WorkerMessage =
  | { readonly kind: 'read'; readonly id: number; readonly start: number; readonly end: number }
  | { readonly kind: 'result'; readonly result: ProbeResult; readonly shouldRetire: boolean };

const MAX_READS = 5000;

/** Half of the CPU time limit of the process. */
const RETIRE_CPU_MICROSECONDS = 60_000_000;

const pendingReads = new Map<number, (bytes: Uint8Array) => void>();
let reads = 0;

const send = (message: WorkerMessage) => process.send?.(message);

Logging.level = LogLevel.Silent;
process.on('disconnect', () => process.exit(0));
process.on('message', handleMessage);
process.send?.('ready');

function handleMessage(message: ServiceMessage): void {
  if (message.kind === 'probe') {
    void probe(message).then(sendResult);
    return;
  }
  pendingReads.get(message.id)?.(message.bytes);
  pendingReads.delete(message.id);
}

function sendResult(result: ProbeResult): void {
  const { user, system } = process.cpuUsage();
  pendingReads.clear();
  send({ kind: 'result', result, shouldRetire: user + system > RETIRE_CPU_MICROSECONDS });
}

type ProbeRequest = Extract<ServiceMessage, { kind: 'probe' }>;

async function probe({ format, sizeBytes, maxBytes }: ProbeRequest): Promise<ProbeResult> {
  using input = new Input({ formats: inputFormatsOf(format), source: boundedSource(sizeBytes, maxBytes) });
  return await probeFile(input, format);
}

/** Requests bytes from the service, up to the budget (contract B4). */
function boundedSource(sizeBytes: number, maxBytes: number): CustomSource {
  const remaining = { bytes: maxBytes, reads: MAX_READS };
  return new CustomSource({
    getSize: () => sizeBytes,
    read(start, end) {
      remaining.reads -= 1;
      if (remaining.reads < 0 || remaining.bytes < end - start)
        throw new Error('the probe exceeds its read budget');
      remaining.bytes -= end - start;
      return read(start, end);
    },
    prefetchProfile: 'fileSystem', // without it, MPEG-TS needs 28 times the CPU time
    handleUnhandledError: () => {}, // errors of prefetches; the actual read fails again
  });
}

function read(start: number, end: number): Promise<Uint8Array> {
  const id = reads++;
  send({ kind: 'read', id, start, end });
  return new Promise((resolve) => pendingReads.set(id, resolve));
}
