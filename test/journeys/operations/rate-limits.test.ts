// Rate limits per owner and address: 429 in the envelope, with headers for the time to wait.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../service/src/config.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, putBytes } from '../../support/media.ts';
import {
  type Answer,
  asService,
  asUser,
  call,
  eventually,
  SECRETS,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { rows } from '../../support/service/traces.ts';

const NOBODYS = '/media/0199aaaa-0000-7000-8000-000000000000';

/** Slow enough that no token comes back while a test runs. */
const SLOW = { RATE_LIMIT_PER_OWNER: '5/1h', RATE_LIMIT_PER_ADDRESS: '20/1h', TRUST_PROXY: 'loopback' };

const times = async (count: number, ask: () => Promise<Answer>): Promise<Answer[]> => {
  const answers: Answer[] = [];
  for (let sent = 0; sent < count; sent++) answers.push(await ask());
  return answers;
};
const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status);

describe('limits that are set', () => {
  let service: TestService;
  let addresses = 0;
  beforeAll(async () => {
    service = await startTestService({ ...SLOW, CORS_ORIGINS: 'https://app.test' });
  });
  afterAll(() => service?.stop());

  /** Each request from an address of its own, where the address is not what is tested. */
  const ask = (methodAndPath: string, headers: Record<string, string> = {}, json?: unknown) => {
    addresses += 1;
    return call(service, methodAndPath, {
      headers: { 'x-forwarded-for': `10.0.${addresses >> 8}.${addresses & 255}`, ...headers },
      ...(json !== undefined && { json }),
    });
  };

  test('each response has the remaining requests; further requests get 429 with Retry-After', async () => {
    const answers = await times(6, () => ask('GET /media', asUser('ann')));
    expect(statusesOf(answers)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"address";q=20;w=3600, "owner";q=5;w=3600');
    expect(answers[0]?.headers.get('ratelimit')).toMatch(/^"address";r=19;t=\d+, "owner";r=4;t=\d+$/);
    const refused = answers[5] as Answer;
    const { error_code, details, message } = expectRefusal(refused, 429);
    expect(error_code).toBe('RATE_LIMITED');
    expect(details).toEqual({ reason: 'rate_limited', policy: 'owner', limit: 5, window_s: 3600 });
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(600);
    expect(wait).toBeLessThanOrEqual(720);
    expect(message).toContain(`${wait} s`);
    expect(refused.headers.get('ratelimit')).toMatch(/^"owner";r=0;t=\d+$/);
    expect(refused.headers.get('ratelimit-policy')).toBe('"owner";q=5;w=3600');
  });

  test('other owners are not affected, and requests without credentials count for no owner', async () => {
    await times(6, () => ask('GET /media', asUser('greedy')));
    await times(6, () => ask('GET /media'));
    expectSuccess(await ask('GET /media', asUser('modest')));
  });

  test('requests of a back end count for the named owner', async () => {
    const forOwner = (owner: string) => ask(`GET /media?owner_user_id=${owner}`, asService);
    const opened = await times(3, () =>
      ask('POST /media/upload-url?expand=asset', asService, { ...IMAGE, owner_user_id: 'client' }),
    );
    expect(statusesOf(opened)).toEqual([200, 200, 200]);
    expect(statusesOf(await times(3, () => forOwner('client')))).toEqual([200, 200, 429]);
    expect(statusesOf(await times(2, () => ask('GET /media', asUser('client'))))).toEqual([429, 429]);
    expectSuccess(await forOwner('other client'));
    const ticket = () => ask('POST /events/ticket', asService, { owner_user_id: 'follower' });
    expect(statusesOf(await times(6, ticket))).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('signed uploads and downloads count for the owner of the asset; wrong tickets do not', async () => {
    const started = await openUpload(service, 'sender', IMAGE);
    const url = started.upload_url as string;
    const wrong = await times(6, () => call({ url: '' }, `PUT ${url}x`, { body: 'bytes' }));
    expect(statusesOf(wrong)).toEqual([401, 401, 401, 401, 401, 401]);
    expectSuccess(await putBytes(started, Buffer.alloc(10), { 'x-forwarded-for': '10.1.0.1' }));
    expect(statusesOf(await times(3, () => ask('GET /media', asUser('sender'))))).toEqual([200, 200, 200]);
    const late = await putBytes(started, Buffer.alloc(10), { 'x-forwarded-for': '10.1.0.2' });
    expectRefusal(late, 429);
    expect(late.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(late.headers.get('ratelimit-policy')).toBe('"owner";q=5;w=3600');
  });

  test('an address is limited on every route, also on unknown ones; other addresses are not', async () => {
    const from = { 'x-forwarded-for': '192.0.2.7' };
    const answers = await times(19, () => ask('GET /nothing', from));
    expect(new Set(statusesOf(answers))).toEqual(new Set([404]));
    expectSuccess(await ask('GET /media', { ...from, ...asUser('traveller') }));
    const refused = await ask('GET /media', { ...from, ...asUser('traveller') });
    expect(expectRefusal(refused, 429).details).toMatchObject({ policy: 'address', limit: 20 });
    expectRefusal(await ask('GET /nothing', from), 429);
    expectSuccess(await ask('GET /media', { 'x-forwarded-for': '192.0.2.8', ...asUser('traveller') }));
  });

  test('IPv6 addresses are counted per /64', async () => {
    let host = 0;
    const ask64 = (network: string) => {
      host += 1;
      return ask('GET /nothing', { 'x-forwarded-for': `${network}::${host.toString(16)}` });
    };
    const answers = await times(21, () => ask64('2001:db8:0:1'));
    expect(statusesOf(answers).slice(19)).toEqual([404, 429]);
    expect((await ask64('2001:db8:0:2')).status).toBe(404);
  });

  test('health checks and playback segments are never limited', async () => {
    const from = { 'x-forwarded-for': '192.0.2.99' };
    await times(21, () => ask('GET /nothing', from));
    expectRefusal(await ask('GET /nothing', from), 429);
    for (const path of ['healthz', 'readyz'])
      expectSuccess(await ask(`GET ${service.address}/${path}`, from));
    const segment = `/playback${NOBODYS.replace('/media', '')}/1-1/v0.mp4`;
    expectRefusal(await ask(`GET ${segment}`, from), 404);
    expectRefusal(await ask(`GET ${segment.replace('1-1/v0.mp4', 'hls.m3u8')}`, from), 429);
  });

  test('webhooks have their own limit, ten times as high, and get 503 above it', async () => {
    const from = { 'x-forwarded-for': '192.0.2.50' };
    await times(21, () => ask('GET /nothing', from));
    const deliver = () => ask('POST /webhooks/stream/onprem', from, {});
    const answers = await Promise.all(Array.from({ length: 203 }, deliver));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(200);
    const late = answers.find(({ status }) => status !== 401) as Answer;
    expectRefusal(late, 503);
    expect(late.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  test('pages of other origins may read the headers', async () => {
    const answer = await ask('GET /media', { ...asUser('page'), origin: 'https://app.test' });
    expect(answer.headers.get('access-control-expose-headers')).toMatch(/RateLimit, RateLimit-Policy/);
  });

  test('an invalid address in the header: the proxy is counted', async () => {
    const forged = () => ask('GET /nothing', { 'x-forwarded-for': `nonsense ${addresses}` });
    expect(statusesOf(await times(25, forged)).at(-1)).toBe(429);
  });
});

describe('without TRUST_PROXY', () => {
  test('the address of the socket is counted, whatever the headers are', async () => {
    const service = await startTestService({ ...SLOW, TRUST_PROXY: undefined });
    try {
      let sent = 0;
      const answers = await times(21, () => {
        sent += 1;
        return call(service, 'GET /nothing', { headers: { 'x-forwarded-for': `10.0.0.${sent}` } });
      });
      expect(statusesOf(answers).slice(19)).toEqual([404, 429]);
    } finally {
      await service.stop();
    }
  });
});

describe('a bucket', () => {
  test('refills evenly over time', async () => {
    const service = await startTestService({ RATE_LIMIT_PER_OWNER: '4/2s' });
    try {
      const ask = () => call(service, 'GET /media', { headers: asUser('ann') });
      const first = await Promise.all(Array.from({ length: 12 }, ask));
      const { length: served } = first.filter(({ status }) => status === 200);
      // Tokens may come back while slow answers are under way; never fewer than the limit are served.
      expect(served).toBeGreaterThanOrEqual(4);
      expect(served).toBeLessThan(12);
      expectSuccess(await eventually(ask, ({ status }) => status === 200));
      await service.adapters.db.transaction((tx) =>
        service.adapters.jobs.send(tx, 'delete-expired-keys', {}),
      );
      await eventually(
        () => rows(service.dataDir, 'select key from rate_limits'),
        ({ length }) => length <= 1,
      );
    } finally {
      await service.stop();
    }
  });
});

describe('an unreachable database', () => {
  test('disables the limits: requests are answered as without them', async () => {
    const service = await startTestService(
      { ...SLOW, LOG_LEVEL: 'silent' },
      {
        wrapAdapters: (adapters) => ({
          ...adapters,
          db: {
            ...adapters.db,
            all: (statement) =>
              statement.name === 'take tokens'
                ? Promise.reject(new Error('no tokens today'))
                : adapters.db.all(statement),
          },
        }),
      },
    );
    try {
      const answers = await times(25, () => call(service, 'GET /media', { headers: asUser('ann') }));
      expect(new Set(statusesOf(answers))).toEqual(new Set([200]));
      expect(answers[0]?.headers.get('ratelimit')).toBeNull();
    } finally {
      await service.stop();
    }
  });
});

describe('limits that are not set', () => {
  test('add no headers and no rows', async () => {
    const service = await startTestService();
    try {
      const answer = await call(service, 'GET /media', { headers: asUser('ann') });
      expect([...answer.headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
      expect(await rows(service.dataDir, 'select * from rate_limits')).toEqual([]);
    } finally {
      await service.stop();
    }
  });
});

test('invalid settings prevent the start, and the message has the expected format', () => {
  const read = (settings: Readonly<Record<string, string>>) =>
    readConfig({ ...SECRETS, ...settings }, (path) => path);
  for (const rate of ['100', '0/10s', '10/0s', '10/25h', '-1/s', '1/1d'])
    expect(() => read({ RATE_LIMIT_PER_OWNER: rate }), rate).toThrow('RATE_LIMIT_PER_OWNER must be');
  for (const proxies of ['true', '2', 'proxy.local', '10.0.0.0/33'])
    expect(() => read({ TRUST_PROXY: proxies }), proxies).toThrow('TRUST_PROXY must list');
  expect(read({ RATE_LIMIT_PER_OWNER: '1000/m', TRUST_PROXY: '10.0.0.0/8, ::1' })).toMatchObject({
    ratePerOwner: { limit: 1000, windowSeconds: 60 },
    trustProxy: ['10.0.0.0/8', '::1'],
  });
});
