// Circuit breaker for provider calls: rejects calls after repeated failures, except for a probe call after
// each pause.

/** State of the circuit. Times are in milliseconds since 1970. */
export type Circuit = {
  readonly failures: number;
  /** No call before this time. */
  readonly openUntil: number;
  readonly lastAnswerAt: number | null;
  /** Code of the last failure; null after a success. */
  readonly lastFailure: string | null;
};

export const CLOSED_CIRCUIT: Circuit = { failures: 0, openUntil: 0, lastAnswerAt: null, lastFailure: null };

/** Consecutive failures that open the circuit. The pause doubles with each further failure. */
const FAILURE_THRESHOLD = 5;
const PAUSE_MS = 10_000;
const MAX_PAUSE_MS = 5 * 60_000;

export const isOpen = (circuit: Circuit, now: number): boolean => now < circuit.openUntil;

/** Seconds until the next call is allowed. */
export const waitSeconds = (circuit: Circuit, now: number): number =>
  Math.max(1, Math.ceil((circuit.openUntil - now) / 1000));

/** The single probe call after a pause. Other calls are rejected until it completes. */
export const halfOpen = (circuit: Circuit, now: number): Circuit =>
  circuit.failures < FAILURE_THRESHOLD ? circuit : { ...circuit, openUntil: now + PAUSE_MS };

export const afterSuccess = (now: number): Circuit => ({ ...CLOSED_CIRCUIT, lastAnswerAt: now });

type CallFailure = {
  readonly code: string;
  /** The provider answered that the request itself is wrong, for example with 404, so the circuit closes. */
  readonly isRequestError: boolean;
  /** Opens the circuit immediately. */
  readonly retryAfterSeconds: number | undefined;
};

export function afterFailure(
  circuit: Circuit,
  { code, isRequestError, retryAfterSeconds }: CallFailure,
  now: number,
): Circuit {
  if (isRequestError) return { ...afterSuccess(now), lastFailure: code };
  const failures = circuit.failures + 1;
  const pause =
    failures < FAILURE_THRESHOLD ? 0 : Math.min(PAUSE_MS * 2 ** (failures - FAILURE_THRESHOLD), MAX_PAUSE_MS);
  return {
    ...circuit,
    failures,
    lastFailure: code,
    openUntil: now + Math.max(pause, (retryAfterSeconds ?? 0) * 1000),
  };
}
