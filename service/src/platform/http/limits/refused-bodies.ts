// Reads the rest of a refused body for a short time, so that the client can read the response.
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createKeyedCounter } from '../../concurrency/keyed-counter.ts';
import { addressKey } from './client-address.ts';
import { closeWhen, hasBody } from './connections.ts';

/**
 * Most clients read the response only after they have sent the whole body. A socket that is closed before is
 * reset, and the client sees a network error instead of the response.
 */
const MAX_DRAINED_BYTES = 8 * 1024 * 1024;
const DRAIN_MS = 5000;
/** Further connections are closed without a drain, so that a flood of bodies costs no more than before. */
const MAX_DRAINS = { total: 256, perAddress: 32 } as const;
/** Node reads the rest of such a body itself, and the connection stays open for the next request. */
const SMALL_BODY_BYTES = 64 * 1024;

const drains = createKeyedCounter();

/** Call it before an error response is sent, after its status was set. */
export function drainRefusedBody(request: FastifyRequest, reply: FastifyReply): void {
  if (!isRefusedBody(request, reply)) return;
  const { raw, ip } = request;
  const address = addressKey(ip) ?? ip;
  const isAllowed = drains.total() < MAX_DRAINS.total && drains.of(address) < MAX_DRAINS.perAddress;
  const drained = isAllowed ? drain(raw).finally(drains.add(address)) : Promise.resolve();
  closeWhen(drained, request, reply);
}

function isRefusedBody({ raw }: FastifyRequest, reply: FastifyReply): boolean {
  if (raw.complete || !hasBody(raw)) return false;
  if (reply.getHeader('connection') === 'close') return true;
  return reply.statusCode >= 400 && !isSmall(raw);
}

const isSmall = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length']) <= SMALL_BODY_BYTES;

/**
 * Resolves at the end of the body, or after DRAIN_MS. Behind MAX_DRAINED_BYTES nothing more is read, but the
 * socket stays open for the rest of the time, because a client that reads while it sends needs it.
 */
function drain(raw: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, DRAIN_MS).unref();
    let drained = 0;
    raw.on('data', (chunk: Uint8Array) => {
      drained += chunk.byteLength;
      if (drained > MAX_DRAINED_BYTES) raw.pause();
    });
    raw.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    raw.resume();
  });
}
