// Tests how a download fails, and when it must be restarted.
import { describe, expect, test } from 'vitest';
import { renderHead, startRawServer } from '../../../../test/support/http/raw-http-server.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import { openDownload } from './resumable-download.ts';
import {
  CONTENT,
  cutAfter,
  download,
  type Fault,
  MAX_BYTES,
  open,
  rangesSince,
  readAll,
  source,
  useFaultySource,
} from '../../../../test/support/uploads/faulty-source.ts';

useFaultySource();

describe('a restart is required', () => {
  const failure = () => expect(download()).rejects.toMatchObject({ reason: 'restart_required' });
  const change = (): Fault => {
    source.plan.etag = '"v2"';
    source.plan.content = Buffer.from(CONTENT).reverse();
    return {};
  };

  test('when the content has changed', async () => {
    source.plan.faults = [cutAfter(10_000), change];
    await failure();
  });

  test('when the content has changed and the server ignores If-Range', async () => {
    source.plan.respectsIfRange = false;
    source.plan.faults = [cutAfter(10_000), change];
    await failure();
  });

  test('when the server ignores ranges', async () => {
    source.plan.respectsRange = false;
    source.plan.faults = [cutAfter(10_000)];
    await failure();
  });

  test.each([
    ['no validator', undefined, {}],
    ['a weak ETag', 'W/"v1"', {}],
    ['no ranges', '"v1"', { 'Accept-Ranges': 'none' }],
  ])('when the server offers %s', async (_what, etag, headers) => {
    Object.assign(source.plan, { etag, headers });
    for (const bytes of [0, 10_000]) {
      const before = source.server.requests.length;
      source.plan.faults = [cutAfter(bytes)];
      await failure();
      expect(rangesSince(before)).toEqual([undefined]);
    }
  });

  test.each([412, 416])('when the server answers %j', async (status) => {
    source.plan.faults = [cutAfter(10_000), () => ({ status })];
    await failure();
  });

  test('when an earlier download cannot be continued', async () => {
    const from = { offset: 30_000, validator: '"v0"', totalBytes: CONTENT.length };
    await expect(open({}, from)).rejects.toMatchObject({ reason: 'restart_required' });
  });
});

describe('a failure', () => {
  test('that is transient is retried with backoff, before the first byte as well', async () => {
    source.plan.faults = [
      () => ({ status: 503, headers: { 'Retry-After': '1' } }),
      () => ({ raw: '' }),
      cutAfter(0),
    ];
    expect((await download()).equals(CONTENT)).toBe(true);
    expect(source.waits).toEqual([1000, 200, 400]);
  });

  test('is thrown when the retries are used up', async () => {
    source.plan.faults = Array.from({ length: 9 }, () => cutAfter(0));
    await expect(download()).rejects.toMatchObject({ reason: 'connection_lost' });
    expect(source.plan.faults).toHaveLength(5);
  });

  test.each([204, 206, 301, 404, 410, 501])('of status %j is final', async (status) => {
    source.plan.faults = [() => ({ status })];
    await expect(open()).rejects.toMatchObject({ reason: 'http_status', status });
    expect(source.waits).toEqual([]);
  });

  test('of status 404 while it continues is final', async () => {
    source.plan.faults = [cutAfter(10), () => ({ status: 404 })];
    await expect(download()).rejects.toMatchObject({ reason: 'http_status', status: 404 });
  });

  test('is a size over the maximum, declared or not, in one response or several', async () => {
    await expect(open({ maxBytes: CONTENT.length - 1 })).rejects.toMatchObject({ reason: 'too_large' });
    source.plan.faults = [() => ({ raw: `${renderHead(200)}hello` })];
    await expect(download({ maxBytes: 4 })).rejects.toMatchObject({ reason: 'too_large' });
    const from = { offset: 1, validator: '"v1"', totalBytes: undefined };
    await expect(open({ maxBytes: CONTENT.length - 1 }, from)).rejects.toMatchObject({ reason: 'too_large' });
  });

  test('is a part that is longer than its range', async () => {
    const head = { ETag: '"v1"', 'Content-Range': 'bytes 10-12/40000', 'Transfer-Encoding': 'chunked' };
    source.plan.faults = [cutAfter(10), () => ({ raw: `${renderHead(206, head)}5\r\nhello\r\n0\r\n\r\n` })];
    await expect(download()).rejects.toMatchObject({ reason: 'invalid_response', detail: 'too_long' });
  });

  test('is the signal of the caller, also during a wait', async () => {
    const controller = new AbortController();
    source.plan.faults = [cutAfter(10)];
    const wait = async () => {
      controller.abort();
      throw controller.signal.reason;
    };
    const opened = await open({ wait }, undefined, controller.signal);
    await expect(readAll(opened)).rejects.toMatchObject({ reason: 'aborted' });
  });
});

test('a download that is refused or not read to its end releases its connection', async () => {
  const closed: Promise<void>[] = [];
  const slow = await startRawServer((socket, { path }) => {
    closed.push(new Promise((resolve) => socket.once('close', () => resolve())));
    socket.write(`${renderHead(path === '/' ? 200 : 404, { 'Content-Length': 100 })}hello`);
  });
  const url = `http://127.0.0.1:${slow.port}/`;
  const needs = {
    fetch: createGuardedFetch({ allowPrivate: true }),
    wait: async () => {},
    random: () => 1,
    now: () => new Date(),
    maxBytes: MAX_BYTES,
  };
  const [unread, partlyRead] = [await openDownload({ url }, needs), await openDownload({ url }, needs)];
  unread.close();
  for await (const _chunk of partlyRead.body) break;
  await expect(openDownload({ url: `${url}missing` }, needs)).rejects.toMatchObject({ status: 404 });
  expect(closed).toHaveLength(3);
  await Promise.all(closed);
  await slow.stop();
});
