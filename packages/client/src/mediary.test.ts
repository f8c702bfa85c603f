// Tests the owner that a client sends, and what `waitUntilReady` waits for.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answer, type ApiServer, openEvents, startApiServer, writeEvent } from './api-server.fixture.ts';
import type { Playback } from './api/playback.ts';
import { createMediary, type Mediary } from './mediary.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

describe('the owner', () => {
  /** The owner that each kind of call sends, in the query or in the body. */
  async function collectOwners(mediary: Mediary, options: { ownerUserId?: string }) {
    server.handle((_request, response) => answer(response, { items: [], next_cursor: null }));
    await mediary.media.list({}, options).page();
    await mediary.media.complete('a', options);
    await mediary.media.update('a', { title: 't' }, options);
    await mediary.media.delete('a', options);
    await mediary.captions.put('a', 'en', { text: 'WEBVTT' }, options);
    await mediary.usage.get(options);
    return server.requests.map(({ path, body, headers }) => {
      const inQuery = new URL(path, server.url).searchParams.get('owner_user_id');
      const isJson = headers['content-type'] === 'application/json';
      return inQuery ?? (isJson ? JSON.parse(body.toString()).owner_user_id : undefined);
    });
  }

  test.each([
    ['of the client', {}, 'ann'],
    ['of the call', { ownerUserId: 'bob' }, 'bob'],
  ])('%s is sent by every call', async (_name, options, owner) => {
    const mediary = createMediary({ baseUrl: server.url, serviceKey: 'k', ownerUserId: 'ann' });
    expect(new Set(await collectOwners(mediary, options))).toEqual(new Set([owner]));
    const another = createMediary({ baseUrl: server.url, serviceKey: 'k' }).forOwner('ann');
    expect(new Set(await collectOwners(another, options))).toEqual(new Set([owner]));
  });
});

describe('requestBytes', () => {
  const mediary = () => createMediary({ baseUrl: server.url, serviceKey: 'k' });
  const request = { method: 'GET', path: '/admin/owners/ann/export' } as const;

  test('returns the response while its body arrives', async () => {
    let end = () => {};
    server.handle((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-tar' }).write('first,');
      end = () => response.end('last');
    });
    const response = await mediary().requestBytes(request);
    end();
    expect(await response.text()).toBe('first,last');
    expect(server.requests).toMatchObject([{ path: '/api/v1/admin/owners/ann/export' }]);
  });

  test('throws what the API refuses', async () => {
    const refusal = {
      success: false,
      message: 'Busy',
      error: { error_code: 'UNAVAILABLE' },
      request_id: 'r-9',
    };
    server.handle((_request, response) => response.writeHead(503).end(JSON.stringify(refusal)));
    await expect(mediary().requestBytes(request)).rejects.toMatchObject({
      message: 'Busy',
      requestId: 'r-9',
    });
  });

  test('rejects with the reason of its signal', async () => {
    const controller = new AbortController();
    server.handle(() => controller.abort('enough'));
    const read = () => mediary().requestBytes({ ...request, options: { signal: controller.signal } });
    await expect(read()).rejects.toBe('enough');
    await expect(read()).rejects.toBe('enough');
    expect(server.requests).toHaveLength(1);
  });
});

describe('waitUntilReady', () => {
  const READY = {
    id: 'a',
    stream_status: 'ready',
    playable_at: 'now',
    deleted_at: null,
    provider: 'onprem',
  };
  const PLAYABLE = { ...READY, stream_status: 'processing' };

  const URLS = { frame: 'http://media.test/frame.jpg', waveform: 'http://media.test/waveform.json' };
  const PLAYBACK = { ...URLS, mp4: null, audio: null, storyboard: null, preview: null };

  /** A stream of these assets; extras are pending in so many responses of playback. */
  function stream(assets: readonly object[], pendingCount = 0, kind: Playback['kind'] = 'video') {
    let asked = 0;
    server.handle(({ path }, response) => {
      if (path.includes('/playback')) {
        asked += 1;
        const isPending = kind !== 'image' && asked <= pendingCount;
        return answer(response, { ...PLAYBACK, kind, extras_pending: isPending });
      }
      if (!path.endsWith('/events')) return answer(response, assets.at(-1));
      openEvents(response);
      for (const [index, asset] of assets.entries())
        writeEvent(response, `1-${index}`, { type: 'asset.updated', asset });
    });
    return createMediary({ baseUrl: server.url, token: 't' }).media;
  }

  test('until it is playable', async () => {
    const asset = await stream([PLAYABLE]).waitUntilReady('a', { until: 'playable' });
    expect(asset.stream_status).toBe('processing');
  });

  test('until its extras are decided', async () => {
    const media = stream([READY, READY], 1);
    expect(await media.waitUntilReady('a', { until: 'extras' })).toMatchObject({ id: 'a' });
    expect(server.requests.filter(({ path }) => path.endsWith('/playback'))).toHaveLength(2);
  });

  test('until it is ready, where extras never come', async () => {
    const media = stream([{ ...READY, provider: null }]);
    expect(await media.waitUntilReady('a', { until: 'extras' })).toMatchObject({ id: 'a' });
  });

  test.each(['video', 'audio', 'image'] as const)(
    'until it is ready, where a %s gets no extras',
    async (kind) => {
      const waiting = stream([READY], 0, kind).waitUntilReady('a', { until: 'extras', deadlineMs: 5000 });
      expect(await waiting).toMatchObject({ id: 'a' });
    },
  );

  test('not beyond its deadline', async () => {
    const waiting = stream([PLAYABLE]).waitUntilReady('a', { deadlineMs: 50 });
    await expect(waiting).rejects.toMatchObject({
      errorCode: 'TIMEOUT',
      message: 'The asset was not ready within 50 ms.',
    });
  });
});
