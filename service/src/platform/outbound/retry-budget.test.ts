// Tests which failures are retried, and when.
import { describe, expect, test } from 'vitest';
import { OutboundError } from './outbound-error.ts';
import { createRetryBudget, isTransient } from './retry-budget.ts';

const LIMITS = { maxRetries: 3, baseDelayMs: 100, maxDelayMs: 250, progressBytes: 10 };
const cut = new OutboundError('connection_lost');
const open = (random = 1) => createRetryBudget(LIMITS, () => random);

test.each([
  [new OutboundError('connect_failed'), true],
  [new OutboundError('connection_lost'), true],
  [new OutboundError('timeout', { detail: 'idle' }), true],
  [new OutboundError('dns_failed', { detail: 'EAI_AGAIN' }), true],
  [new OutboundError('http_status', { status: 503 }), true],
  [new OutboundError('http_status', { status: 429 }), true],
  [new OutboundError('dns_failed', { detail: 'ENOTFOUND' }), false],
  [new OutboundError('http_status', { status: 404 }), false],
  [new OutboundError('http_status', { status: 501 }), false],
  [new OutboundError('address_refused'), false],
  [new OutboundError('tls_failed'), false],
  [new OutboundError('too_large'), false],
  [new OutboundError('restart_required'), false],
  [new OutboundError('aborted'), false],
])('%s is transient: %j', (failure, expected) => expect(isTransient(failure)).toBe(expected));

describe('the delay', () => {
  test('doubles up to its maximum, and ends with the budget', () => {
    const budget = open();
    expect([1, 2, 3, 4].map(() => budget.nextDelayMs(cut, 0))).toEqual([100, 200, 250, undefined]);
  });

  test('is random by half', () => {
    expect(open(0).nextDelayMs(cut, 0)).toBe(50);
    expect(open(0.5).nextDelayMs(cut, 0)).toBe(75);
  });

  test('follows Retry-After up to its maximum', () => {
    const busy = (retryAfterSeconds: number) =>
      new OutboundError('http_status', { status: 503, retryAfterSeconds });
    expect(open().nextDelayMs(busy(0.2), 0)).toBe(200);
    expect(open().nextDelayMs(busy(3600), 0)).toBe(250);
  });

  test('starts again after enough bytes', () => {
    const budget = open();
    const offsets = [0, 9, 18, 28, 37];
    expect(offsets.map((offset) => budget.nextDelayMs(cut, offset))).toEqual([100, 200, 250, 100, 200]);
  });
});
