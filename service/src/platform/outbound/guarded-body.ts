// The body of an outbound response as a stream that fails when it is too large, too slow, silent or cut.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { OutboundError, type OutboundReason } from './outbound-error.ts';
import type { OutboundLimits } from './outbound-limits.ts';

type BodyLimits = Pick<OutboundLimits, 'idleMs' | 'minRate' | 'maxBodyBytes'>;

/** `signal` must abort with an OutboundError, which becomes the error of the stream. */
export function guardBody(response: IncomingMessage, limits: BodyLimits, signal: AbortSignal): Readable {
  const fail = (reason: OutboundReason, detail?: string) => {
    body.destroy(new OutboundError(reason, { detail }));
  };
  const onAbort = () => body.destroy(signal.reason);
  const wait = createWaitGuard(limits, (detail) => fail('timeout', detail));
  let received = 0;
  const body = new Readable({
    read() {
      wait.begin();
      response.resume();
    },
    destroy(error, done) {
      wait.stop();
      signal.removeEventListener('abort', onAbort);
      response.destroy();
      done(error);
    },
  });
  // Without a listener, an error before the caller reads would end the process. A later reader still gets it.
  body.on('error', () => {});
  response.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > limits.maxBodyBytes) return fail('too_large');
    if (!wait.end(chunk.length)) return;
    if (body.push(chunk)) wait.begin();
    else response.pause();
  });
  response.pause();
  response.once('end', () => {
    wait.stop();
    body.push(null);
  });
  response.once('error', () => fail('connection_lost'));
  response.once('close', () => response.readableEnded || fail('connection_lost'));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  else if (response.destroyed) fail('connection_lost');
  return body;
}

type WaitGuard = {
  begin(): void;
  /** False when the wait was too slow. */
  end(bytes: number): boolean;
  /** Nothing more is awaited: the body is complete, or nobody reads it. */
  stop(): void;
};

/** Counts only the time in which the reader waits: a slow disk must not look like a slow peer. */
function createWaitGuard(
  { idleMs, minRate }: Pick<BodyLimits, 'idleMs' | 'minRate'>,
  onTimeout: (detail: string) => void,
): WaitGuard {
  let timer: NodeJS.Timeout | undefined;
  let since: number | undefined;
  let window = { waitedMs: 0, bytes: 0 };
  const expire = () => {
    const expired = timer;
    // Bytes that arrived while the process was busy are read before this callback runs.
    setImmediate(() => {
      if (timer === expired) onTimeout('idle');
    });
  };
  return {
    begin() {
      if (since !== undefined) return;
      since = performance.now();
      timer = setTimeout(expire, idleMs);
    },
    end(bytes) {
      clearTimeout(timer);
      timer = undefined;
      const waitedMs = since === undefined ? 0 : performance.now() - since;
      since = undefined;
      window = { waitedMs: window.waitedMs + waitedMs, bytes: window.bytes + bytes };
      if (window.waitedMs < minRate.windowMs) return true;
      const isFastEnough = window.bytes >= minRate.bytes;
      window = { waitedMs: 0, bytes: 0 };
      if (!isFastEnough) onTimeout('rate');
      return isFastEnough;
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
