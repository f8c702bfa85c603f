// Tests that the circuit opens after repeated failures and closes again after a successful probe.
import { expect, test } from 'vitest';
import {
  afterFailure,
  afterSuccess,
  type Circuit,
  CLOSED_CIRCUIT,
  isOpen,
  waitSeconds,
  halfOpen,
} from './circuit.ts';

const trouble = { code: 'provider_error', isRequestError: false, retryAfterSeconds: undefined };
const after = (failures: number, now = 0): Circuit =>
  Array.from({ length: failures }).reduce<Circuit>(
    (circuit) => afterFailure(circuit, trouble, now),
    CLOSED_CIRCUIT,
  );

test('four failures in a row change nothing, the fifth stops the questions for ten seconds', () => {
  expect(isOpen(after(4), 1)).toBe(false);
  expect(isOpen(after(5), 9_999)).toBe(true);
  expect(isOpen(after(5), 10_000)).toBe(false);
  expect(waitSeconds(after(5), 4_000)).toBe(6);
});

test('the last failure is remembered until a success', () => {
  expect(after(0)).toEqual({ failures: 0, openUntil: 0, lastAnswerAt: null, lastFailure: null });
  expect(after(2)).toMatchObject({ failures: 2, lastAnswerAt: null, lastFailure: 'provider_error' });
  expect(afterSuccess(5).lastFailure).toBeNull();
  expect(waitSeconds(after(5), 9_500)).toBe(1);
  expect(waitSeconds(after(5), 20_000)).toBe(1);
});

test('a failure of the one question that is let through doubles the pause, up to five minutes', () => {
  const again = afterFailure(after(5), trouble, 10_000);
  expect([isOpen(again, 29_999), isOpen(again, 30_000)]).toEqual([true, false]);
  expect(waitSeconds(after(30), 0)).toBe(300);
});

test('only one question is let through after a pause, of a provider that is well any number', () => {
  expect(isOpen(halfOpen(after(5), 10_000), 10_001)).toBe(true);
  expect(halfOpen(after(4), 10_000)).toEqual(after(4));
});

test('one success forgets the failures', () => {
  expect(afterFailure(afterSuccess(5), trouble, 6)).toMatchObject({
    failures: 1,
    openUntil: 6,
    lastAnswerAt: 5,
  });
});

test('Retry-After of the provider applies from the first failure on', () => {
  const limited = afterFailure(
    CLOSED_CIRCUIT,
    { code: 'provider_rate_limited', isRequestError: false, retryAfterSeconds: 7 },
    1000,
  );
  expect([isOpen(limited, 7999), isOpen(limited, 8000)]).toEqual([true, false]);
});

test('an error of the request itself shows that the provider works', () => {
  expect(
    afterFailure(
      after(4),
      { code: 'provider_rejected', isRequestError: true, retryAfterSeconds: undefined },
      3,
    ),
  ).toMatchObject({ failures: 0, lastAnswerAt: 3, lastFailure: 'provider_rejected' });
});

test('a 404 to the one question after a pause ends the pause at once', () => {
  const trying = halfOpen(after(5), 10_000);
  expect(isOpen(trying, 10_001)).toBe(true);
  const missing = { code: 'provider_video_missing', isRequestError: true, retryAfterSeconds: undefined };
  const answered = afterFailure(trying, missing, 10_001);
  expect(isOpen(answered, 10_001)).toBe(false);
  expect(answered).toMatchObject({ failures: 0, lastFailure: 'provider_video_missing' });
});
