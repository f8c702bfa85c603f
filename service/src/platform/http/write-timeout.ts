// Closes connections whose client does not read its response: what waits for it stays in memory.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { checkEvery } from './server-interval.ts';

/** A client that reads anything at all keeps its connection; one that reads nothing for this long loses it. */
export const WRITE_TIMEOUT_S = 15;

type PendingWrite = { since: number; written: number; queued: number };

export function closeStalledWrites(server: Server, everyMs: number): void {
  const open = new Map<Socket, PendingWrite>();
  server.on('connection', (socket: Socket) => {
    open.set(socket, { since: performance.now(), written: 0, queued: 0 });
    socket.once('close', () => open.delete(socket));
  });
  checkEvery(server, everyMs, (blockedMs) => {
    for (const [socket, write] of open) {
      write.since += blockedMs;
      if (isStalled(socket, write)) socket.destroy();
    }
  });
}

function isStalled(socket: Socket, write: PendingWrite): boolean {
  const now = performance.now();
  // Both count for progress: bytes of finished writes, and how much of the write in progress the kernel has not taken.
  const [written, queued] = [socket.bytesWritten - socket.writableLength, queueSizeOf(socket)];
  if (socket.writableLength === 0 || written !== write.written || queued !== write.queued)
    Object.assign(write, { since: now, written, queued });
  return now - write.since > WRITE_TIMEOUT_S * 1000;
}

/** Node's own socket timeout reads the same number; without it a write counts only when it is finished. */
const queueSizeOf = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
