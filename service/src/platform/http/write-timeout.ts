// Closes connections whose client does not read its response, because unsent data stays in memory.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { runAtInterval } from './server-interval.ts';

/** A connection is closed when the client reads nothing for this time. */
const WRITE_TIMEOUT_S = 15;

type PendingWrite = { since: number; written: number; queued: number };

export function closeStalledWrites(server: Server, everyMs: number): void {
  const open = new Map<Socket, PendingWrite>();
  server.on('connection', (socket: Socket) => {
    open.set(socket, { since: performance.now(), written: 0, queued: 0 });
    socket.once('close', () => open.delete(socket));
  });
  runAtInterval(server, everyMs, (blockedMs) => {
    for (const [socket, write] of open) {
      write.since += blockedMs;
      if (isStalled(socket, write)) socket.destroy();
    }
  });
}

function isStalled(socket: Socket, write: PendingWrite): boolean {
  const now = performance.now();
  // Progress is either more finished writes, or fewer queued bytes of the write in progress.
  const [written, queued] = [socket.bytesWritten - socket.writableLength, queueSizeOf(socket)];
  if (socket.writableLength === 0 || written !== write.written || queued !== write.queued)
    Object.assign(write, { since: now, written, queued });
  return now - write.since > WRITE_TIMEOUT_S * 1000;
}

/** Node's own socket timeout uses the same counter. Without it, only finished writes would count. */
const queueSizeOf = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
