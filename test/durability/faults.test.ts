// Each database or store call of a request fails once: the caller gets an error, nothing is half done, and
// the same request then succeeds.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, type Seen } from '../support/http/envelope.ts';
import { MOMENTS, planFaults } from '../support/http/faults.ts';
import { halves } from '../support/store/partial-writes.ts';
import { KINDS } from '../support/http/request-kinds.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { filesNaming, rows } from '../support/service/traces.ts';

const faults = planFaults();
let service: TestService;
beforeAll(async () => {
  service = await startTestService(
    { MEDIARY_ROLE: 'api', LOG_LEVEL: 'silent' },
    { wrapAdapters: faults.wrapAdapters },
  );
});
afterAll(() => service?.stop());

function expectTold(answer: Seen, what: string): void {
  if (answer.status === 0) return; // Bytes that ended too early are no success either.
  expect(answer.status, what).toBeGreaterThanOrEqual(500);
  const { error_code: code, details } = expectRefusal(answer, answer.status);
  expect({ what, code, details }).toEqual({
    what,
    code: expect.stringMatching(/^(?:UNAVAILABLE|INTERNAL_ERROR)$/),
    details: null,
  });
  if (answer.status === 503) expect(answer.headers.get('retry-after'), what).toMatch(/^[1-9]\d*$/);
}

describe.each(MOMENTS)('a call that fails (%s)', (moment) => {
  test.each(Object.entries(KINDS))('%s', async (kind, { make, ask, ends = 200, unheard }) => {
    for (let n = 1; ; n++) {
      const made = await make(service);
      const { result, calls } = await faults.during({ n, moment }, () => ask(service, made));
      if (calls.length < n) {
        expect(result.status).toBe(ends);
        expect(n, 'it made calls').toBeGreaterThan(1);
        break;
      }
      const what = `${kind}: ${calls.slice(0, n).join(', ')} (${moment})`;
      expectTold(result, what);
      const again = await ask(service, made);
      const isHeeded =
        moment === 'unheard' &&
        again.status === unheard?.status &&
        (again.body as Answer['body']).error.details?.['reason'] === unheard.reason;
      if (!isHeeded) expect(again.status, `${what}, then ${JSON.stringify(again.body)}`).toBe(ends);
    }
    expect(await halves(service.dataDir)).toEqual([]);
    expect(await filesNaming(join(service.dataDir, 'objects', 'incoming'))).toEqual([]);
  });
});

test('a repeated request with an Idempotency-Key creates one asset', async () => {
  const [counted] = await rows(
    service.dataDir,
    `select (select count(*)::int from idempotency_keys) as keys,
            (select count(*)::int from assets where owner_user_id = 'keyed') as assets`,
  );
  expect(counted?.['keys']).toBeGreaterThan(4);
  expect(counted?.['assets']).toBe(counted?.['keys']);
});
