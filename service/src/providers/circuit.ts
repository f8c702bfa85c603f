// Stops asking a provider that fails again and again, and lets one question through from time to time (contract B7: an answer of 503, never a hang).

/** What is remembered of a provider's answers; times in milliseconds since 1970. */
export type Circuit = {
  readonly failures: number;
  /** No question before this time. */
  readonly openUntil: number;
  readonly lastAnswerAt: number | null;
  /** The code of the last failure; null after a success. */
  readonly lastFailure: string | null;
};

export const CLOSED_CIRCUIT: Circuit = { failures: 0, openUntil: 0, lastAnswerAt: null, lastFailure: null };

/** So many failures in a row open it, for so long; doubles with each further failure. */
const FAILURE_THRESHOLD = 5;
const PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 5 * 60_000;

export const isOpen = (circuit: Circuit, now: number): boolean => now < circuit.openUntil;

/** Seconds until the next question is let through. */
export const waitSeconds = (circuit: Circuit, now: number): number =>
  Math.max(1, Math.ceil((circuit.openUntil - now) / 1000));

/** The one question after a pause: until its answer is there, no other is let through. */
export const halfOpen = (circuit: Circuit, now: number): Circuit =>
  circuit.failures < FAILURE_THRESHOLD ? circuit : { ...circuit, openUntil: now + PAUSE_MS };

export const afterSuccess = (now: number): Circuit => ({ ...CLOSED_CIRCUIT, lastAnswerAt: now });

/** `retryAfterSeconds` comes from the provider and counts at once. `isOurs`: only the request failed (a 404, say), so the provider is healthy and the circuit closes. */
export function afterFailure(
  circuit: Circuit,
  {
    code,
    isOurs,
    retryAfterSeconds,
  }: { code: string; isOurs: boolean; retryAfterSeconds: number | undefined },
  now: number,
): Circuit {
  if (isOurs) return { ...afterSuccess(now), lastFailure: code };
  const failures = circuit.failures + 1;
  const pause =
    failures < FAILURE_THRESHOLD
      ? 0
      : Math.min(PAUSE_MS * 2 ** (failures - FAILURE_THRESHOLD), LONGEST_PAUSE_MS);
  return {
    ...circuit,
    failures,
    lastFailure: code,
    openUntil: now + Math.max(pause, (retryAfterSeconds ?? 0) * 1000),
  };
}
