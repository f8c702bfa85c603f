// The database hangs: requests get 503 within seconds, the process stays alive, and everything continues when
// the database does.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, expectSuccess, type Seen } from '../support/http/envelope.ts';
import { halves } from '../support/store/partial-writes.ts';
import { KINDS, type Made } from '../support/http/request-kinds.ts';
import { type Answer, call, eventually, startTestService, type TestService } from '../support/service.ts';
import { signalProcesses } from '../support/service/traces.ts';

const ANSWERED_WITHIN_MS = 5000;
/** For a machine that has other things to do. */
const SLACK_MS = 1500;
const WAVES = 3;
const BETWEEN_WAVES_MS = 400;

type TimedAnswer = { readonly kind: string; readonly answer: Seen; readonly ms: number };

let service: TestService;
const made = new Map<string, Made>();
let results: TimedAnswer[];
let alive: Answer[];

beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', LOG_LEVEL: 'silent' });
  for (const [kind, { make }] of Object.entries(KINDS)) made.set(kind, await make(service));
  await signalProcesses(service.dataDir, 'SIGSTOP');
  try {
    const waves = Array.from({ length: WAVES }, (_, wave) => after(wave * BETWEEN_WAVES_MS, askAll));
    results = (await Promise.all(waves)).flat();
    alive = await Promise.all(
      Array.from({ length: 20 }, () => call(service, `GET ${service.address}/healthz`)),
    );
  } finally {
    await signalProcesses(service.dataDir, 'SIGCONT');
  }
});
afterAll(() => service?.stop());

const after = async <T>(ms: number, work: () => Promise<T>): Promise<T> => {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
  return work();
};

/** Those who come while others wait must not wait for them too. */
const askAll = () =>
  Promise.all(
    Object.entries(KINDS).map(async ([kind, { ask }]): Promise<TimedAnswer> => {
      const asked = performance.now();
      const answer = await ask(service, made.get(kind) as Made);
      return { kind, answer, ms: performance.now() - asked };
    }),
  );

describe.each(Object.keys(KINDS))('%s', (kind) => {
  test('gets 503 with Retry-After within seconds', () => {
    const answers = results.filter((one) => one.kind === kind);
    expect(answers).toHaveLength(WAVES);
    for (const { answer, ms } of answers) {
      expect(expectRefusal(answer, 503)).toMatchObject({ error_code: 'UNAVAILABLE', details: null });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(ms).toBeLessThan(ANSWERED_WITHIN_MS + SLACK_MS);
    }
  });
});

test('keeps the process alive', () => {
  for (const answer of alive) expect(expectSuccess(answer)).toEqual({ status: 'ok' });
});

test('succeeds afterwards, and no request is half done', async () => {
  await eventually(
    () => call(service, `GET ${service.address}/readyz`),
    ({ status }) => status === 200,
  );
  for (const [kind, { ask, ends = 200, unheard }] of Object.entries(KINDS)) {
    const { status, body } = await ask(service, made.get(kind) as Made);
    // What the database did once it went on, after the caller had been sent away, counts; a right that it
    // gave then runs out within a minute.
    if (/in_progress/.test(JSON.stringify(body))) expect(status).toBe(409);
    else expect([ends, unheard?.status], kind).toContain(status);
  }
  expect(await halves(service.dataDir)).toEqual([]);
});
