// Tests when an operator's encoder counts as silent.
import { expect, test } from 'vitest';
import { countRequests, judgeEncoderJob } from './encoder-jobs.ts';

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1) + minutes * 60_000);
const job = { attempt: 1, requests: 1, accepted_at: at(0), deadline: at(60), reported_at: null };
const judge = (change: Partial<Parameters<typeof judgeEncoderJob>[0]>, now: number) =>
  judgeEncoderJob({ ...job, ...change }, { heartbeatMs: 5 * 60_000, now: at(now) });

test('it has one heartbeat to report, from the acceptance and from each report', () => {
  expect(judge({}, 4)).toEqual({ state: 'at_work', checkAt: at(5) });
  expect(judge({ reported_at: at(4) }, 8)).toEqual({ state: 'at_work', checkAt: at(9) });
  expect(judge({}, 5)).toEqual({ state: 'silent', isFinal: false });
  expect(judge({ reported_at: at(4) }, 9)).toEqual({ state: 'silent', isFinal: false });
});

test('after the deadline reports do not count', () => {
  expect(judge({ reported_at: at(59) }, 59.5)).toEqual({ state: 'at_work', checkAt: at(60) });
  expect(judge({ reported_at: at(59) }, 60)).toEqual({ state: 'silent', isFinal: false });
});

test('the third request without a report is the last one; a report starts the count again', () => {
  expect(judge({ requests: 3 }, 6)).toEqual({ state: 'silent', isFinal: true });
  expect(judge({ requests: 3, reported_at: at(1) }, 7)).toEqual({ state: 'silent', isFinal: false });
  expect(countRequests({ ...job, requests: 2 })).toBe(2);
  expect(countRequests({ ...job, requests: 2, reported_at: at(1) })).toBe(1);
});
