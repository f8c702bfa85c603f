// Tests every fault, set in-process and by the control endpoint, and its effect on the wire.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { webhookSignature } from './cdnhost/signatures.ts';
import { type Received, useSimulators, STEP } from './simulators.fixture.ts';

const context = useSimulators();
const { clock } = context;

const key = { AccessKey: 'simulated-key-of-a-library-that-may-write' };
const videosUrl = () => `${context.simulators.cdnhost.url}/library/4242/videos`;
const create = () => fetch(videosUrl(), { method: 'POST', headers: key, body: '{"title":"film"}' });
const put = (guid: string) => fetch(`${videosUrl()}/${guid}`, { method: 'PUT', headers: key, body: 'film' });
const stored = async (guid: string) =>
  (await (await fetch(`${videosUrl()}/${guid}`, { headers: key })).json()) as Record<string, unknown>;
const sent = () => context.received.map(({ body }) => JSON.parse(body).Status);
const isSigned = ({ headers, body }: Received) =>
  headers['x-bunnystream-signature'] === webhookSignature('simulated-read-only-key-of-a-library', body);

async function encoded(): Promise<string> {
  const { guid } = (await (await create()).json()) as { guid: string };
  await put(guid);
  await clock.advance(30 * STEP);
  return guid;
}

describe('webhooks', () => {
  test('are dropped, sent twice, wrongly signed, put off or overtaken', async () => {
    context.simulators.cdnhost.setFault(
      { on: 'webhook', do: 'duplicate', when: 0 },
      { on: 'webhook', do: 'reorder', when: 1 },
      { on: 'webhook', do: 'wrong_signature', when: 2 },
      { on: 'webhook', do: 'delay', when: 4, ms: 60_000, times: 1 },
      { on: 'webhook', do: 'drop', when: 3 },
    );
    await encoded();
    expect(sent()).toEqual([0, 0, 2, 1, 4, 4]);
    expect(context.received.map(isSigned)).toEqual([true, true, false, true, true, true]);
    await clock.advance(60_000);
    expect(sent()).toEqual([0, 0, 2, 1, 4, 4, 4]);
    expect(context.simulators.cdnhost.deliveries().filter(({ problem }) => problem)).toMatchObject([
      { kind: 3, problem: 'dropped' },
    ]);
  });

  test('carry a time that is off, and a signature that is right for it', async () => {
    context.simulators.edgehost.setFault({ on: 'webhook', do: 'clock_skew', seconds: -400 });
    await context.simulators.edgehost.sendWebhook('a'.repeat(32), 'ready');
    const time = Number(/^time=(\d+)/.exec(String(context.received[0]?.headers['webhook-signature']))?.[1]);
    expect(time).toBe(Math.floor(clock.now() / 1000) - 400);
  });
});

describe('encodings', () => {
  test.each([
    [{ do: 'never_finish' }, [0, 1, 2], { status: 3, availableResolutions: null }],
    [{ do: 'partial' }, [0, 1, 2, 4], { status: 3, availableResolutions: '240p' }],
    [
      { do: 'fail', code: 3 },
      [0, 1, 2, 5],
      { status: 5, transcodingMessages: [{ issueCode: 3, message: 'IncompatibleResolution' }] },
    ],
    [{ do: 'fail', after: 'first_rendition' }, [0, 1, 2, 4, 5], { status: 5, availableResolutions: '240p' }],
    [{ do: 'recover' }, [0, 1, 2, 5, 4, 4, 4, 3], { status: 4, transcodingMessages: [] }],
  ] as const)('%o', async (fault, statuses, shown) => {
    context.simulators.cdnhost.setFault({ on: 'encoding', ...fault });
    const guid = await encoded();
    expect(sent()).toEqual(statuses);
    expect(await stored(guid)).toMatchObject(shown);
  });

  test('of edgehost stop short, or fail after they could be played', async () => {
    context.simulators.edgehost.setFault(
      { on: 'encoding', do: 'fail', after: 'first_rendition', times: 1 },
      { on: 'encoding', do: 'partial' },
    );
    const { EDGEHOST_STREAM_API_TOKEN: token } = context.simulators.environment;
    for (let upload = 0; upload < 2; upload += 1) {
      const opened = await fetch(
        `${context.simulators.edgehost.url}/client/v4/accounts/simulated-account/stream`,
        {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${token}`,
            'Tus-Resumable': '1.0.0',
            'Upload-Length': '4',
            'Content-Type': 'application/offset+octet-stream',
          },
          body: 'film',
        },
      );
      expect([opened.status, opened.headers.get('Upload-Offset')]).toEqual([201, '4']);
      await clock.advance(10 * STEP);
    }
    const states = context.received
      .map(({ body }) => JSON.parse(body).status)
      .map(({ state, pctComplete }) => `${state} ${Number(pctComplete)}`);
    expect(states).toEqual(['ready 39', 'error 39', 'ready 39']);
  });
});

describe('calls', () => {
  const fault = (body: unknown) =>
    fetch(`${context.simulators.cdnhost.url}/_control/faults`, {
      method: 'POST',
      body: JSON.stringify(body),
    });

  test('are rejected on the given route, as often as given', async () => {
    expect((await fault({ on: 'api', do: 'explode' })).status).toBe(400);
    expect(
      (
        await fault([
          { on: 'api', do: 'status', status: 429, retryAfter: 2, route: 'create', times: 1 },
          { on: 'api', do: 'status', route: 'get' },
        ])
      ).status,
    ).toBe(204);
    const limited = await create();
    expect([limited.status, limited.headers.get('Retry-After')]).toEqual([429, '2']);
    const { guid } = (await (await create()).json()) as { guid: string };
    expect((await fetch(`${videosUrl()}/${guid}`, { headers: key })).status).toBe(503);
    expect(await (await fetch(`${context.simulators.cdnhost.url}/_control/videos`)).json()).toMatchObject([
      { guid },
    ]);
    expect(
      context.simulators.cdnhost
        .requests()
        .map(({ route, status }) => `${route} ${status}`)
        .slice(2, 5),
    ).toEqual(['create 429', 'create 200', 'get 503']);
    await fetch(`${context.simulators.cdnhost.url}/_control`, { method: 'DELETE' });
    expect(context.simulators.cdnhost.videos()).toEqual([]);
    expect((await create()).status).toBe(200);
  });

  test.each([{ status: 99 }, { status: '503' }, { retryAfter: '1\n2' }])(
    'are not answered with what HTTP does not have: %o',
    async (member) => {
      expect((await fault({ on: 'api', do: 'status', ...member })).status).toBe(400);
      expect((await create()).status).toBe(200);
    },
  );

  test('are done and not answered, or not done at all', async () => {
    context.simulators.cdnhost.setFault(
      { on: 'api', do: 'lose_answer', route: 'create', times: 1 },
      { on: 'api', do: 'cut', route: 'create', times: 1 },
    );
    await expect(create()).rejects.toThrow('fetch failed');
    expect(context.simulators.cdnhost.videos()).toHaveLength(1);
    await expect(create()).rejects.toThrow('fetch failed');
    expect(context.simulators.cdnhost.videos()).toHaveLength(1);
  });

  test('are done at once and answered late, or in slow pieces', async () => {
    context.simulators.cdnhost.setFault(
      { on: 'api', do: 'slow', ms: 60_000, times: 1 },
      { on: 'api', do: 'slow_body', ms: 20, times: 1 },
    );
    await expect(
      fetch(videosUrl(), {
        method: 'POST',
        headers: key,
        body: '{"title":"film"}',
        signal: AbortSignal.timeout(300),
      }),
    ).rejects.toThrow('timeout');
    expect(context.simulators.cdnhost.videos()).toHaveLength(1);
    const slow = await rawGet('/library/4242/videos');
    expect(JSON.parse(slow.body)).toMatchObject({ totalItems: 1 });
    expect(slow.pieces).toBeGreaterThanOrEqual(4);
  });

  test('an upload that is cut in the middle goes on where it stopped', async () => {
    const opened = await fetch(
      `${context.simulators.edgehost.url}/client/v4/accounts/simulated-account/stream?direct_user=true`,
      {
        method: 'POST',
        headers: {
          Authorization: 'Bearer simulated-api-token-of-an-account-that-may-write',
          'Tus-Resumable': '1.0.0',
          'Upload-Length': '1000',
        },
      },
    );
    const location = opened.headers.get('Location') ?? '';
    const patch = (offset: number) =>
      fetch(location, {
        method: 'PATCH',
        headers: {
          'Tus-Resumable': '1.0.0',
          'Upload-Offset': String(offset),
          'Content-Type': 'application/offset+octet-stream',
        },
        body: new Uint8Array(1000 - offset),
      });
    context.simulators.edgehost.setFault({
      on: 'api',
      do: 'cut',
      route: 'tus-patch',
      afterBytes: 400,
      times: 1,
    });
    await expect(patch(0)).rejects.toThrow('fetch failed');
    expect(
      (await fetch(location, { method: 'HEAD', headers: { 'Tus-Resumable': '1.0.0' } })).headers.get(
        'Upload-Offset',
      ),
    ).toBe('400');
    expect((await patch(400)).headers.get('Upload-Offset')).toBe('1000');
  });

  test.each(['*', 'http://example.com/library/4242/videos', '//', 'http://['])(
    'the request target %s is answered, and the next request too',
    async (target) => {
      expect((await rawGet(target)).body).not.toBe('');
      expect(await rawGet('/_control/videos')).toMatchObject({ body: '[]' });
    },
  );

  async function rawGet(path: string): Promise<{ body: string; pieces: number }> {
    const socket = connect(Number(new URL(context.simulators.cdnhost.url).port), '127.0.0.1');
    let pieces = 0;
    socket.on('data', () => {
      pieces += 1;
    });
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccessKey: ${key.AccessKey}\r\nConnection: close\r\n\r\n`,
    );
    const [, body = ''] = (await text(socket)).split('\r\n\r\n');
    return { body, pieces };
  }
});
