// Generates UUIDv7 ids (RFC 9562), ordered by time, and by call within this process.
import { randomFillSync } from 'node:crypto';

/** Requested in blocks: a call for 16 random bytes costs as much as a call for 4096. */
const random = Buffer.alloc(4096);
let used = random.length;

const bytes = Buffer.alloc(16);
let lastMs = 0;
let counter = 0;

/** A clock that steps back further was wrong before. */
export const MAX_STEP_BACK_MS = 60_000;

/**
 * `now` is in milliseconds since 1970. A clock that steps back by a minute at most does not break the order
 * within the process.
 */
export function uuidV7(now = Date.now()): string {
  takeRandom();
  if (now > lastMs || lastMs - now > MAX_STEP_BACK_MS) restart(now);
  else if (++counter > 0xfff) restart(lastMs + 1);
  bytes.writeUIntBE(lastMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return text(bytes.toString('hex'));
}

function takeRandom(): void {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  random.copy(bytes, 0, used, used + bytes.length);
  used += bytes.length;
}

/** Starts the counter of a new millisecond at a random low value, so that it rarely overflows. */
function restart(ms: number): void {
  lastMs = ms;
  counter = bytes.readUInt16BE(6) & 0x3ff;
}

const text = (hex: string) =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
