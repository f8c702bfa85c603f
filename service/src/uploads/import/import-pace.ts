// How long an import may hold its slot while an owner without a slot waits: pure.

type HeldImport = {
  readonly heldMs: number;
  /** Received, or sent on, since the import got the slot. */
  readonly bytes: number;
  /** Whether a later run continues after these bytes. */
  readonly isResumable: boolean;
};

/** A server may take this long to send its first bytes. */
const FREE_MS = 5000;
/** What an import has to average rises by this rate with each second. */
const RATE_PER_SECOND = 128 * 1024;
/** An import that would lose its bytes needs no higher rate, and has more time. */
const MAX_RATE_IF_LOST = 1024 * 1024;
const MAX_MS = 60_000;
const MAX_MS_IF_LOST = 300_000;

export function mayKeepSlot({ heldMs, bytes, isResumable }: HeldImport): boolean {
  if (heldMs < FREE_MS) return true;
  if (heldMs >= (isResumable ? MAX_MS : MAX_MS_IF_LOST)) return false;
  const seconds = heldMs / 1000;
  const required = RATE_PER_SECOND * seconds;
  return bytes / seconds >= (isResumable ? required : Math.min(required, MAX_RATE_IF_LOST));
}
