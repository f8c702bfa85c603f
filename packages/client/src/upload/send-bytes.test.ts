// Requests whose signal has aborted, bodies that cannot be read, and time limits.
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startApiServer } from '../api-server.fixture.ts';
import { createByteSender } from './send-bytes.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('a request whose signal has aborted is not sent', async () => {
  const send = vi.fn();
  vi.stubGlobal(
    'XMLHttpRequest',
    class {
      readonly upload = {};
      open = () => {};
      abort = () => {};
      send = send;
    },
  );
  const request = { method: 'PUT', url: 'http://store.test', headers: {}, body: new Blob(['x']) };
  const sending = createByteSender(undefined)({ ...request, signal: AbortSignal.abort('paused') });
  await expect(sending).rejects.toBe('paused');
  expect(send).not.toHaveBeenCalled();
});

test('a file that was changed is not a broken connection', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-bytes-'));
  const path = join(folder, 'film.mp4');
  await writeFile(path, Buffer.alloc(1000));
  const body = await openAsBlob(path);
  await writeFile(path, 'changed');
  const server = await startApiServer();
  const sending = createByteSender(undefined)({ method: 'PUT', url: server.url, headers: {}, body });
  await expect(sending).rejects.toMatchObject({ name: 'MediaryError', errorCode: 'UPLOAD_FAILED' });
  await server.close();
  await rm(folder, { recursive: true });
});

describe('a request whose progress cannot be seen', () => {
  /** Resolves after `seconds`, or rejects when its signal aborts. */
  const answerAfter =
    (seconds: number): typeof fetch =>
    (_url, init) =>
      new Promise((resolve, reject) => {
        setTimeout(() => resolve(new Response('stored')), seconds * 1000);
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
  const request = { method: 'PUT', url: 'http://store.test', headers: {} };
  const send = (seconds: number, bytes: number) =>
    createByteSender(answerAfter(seconds))({ ...request, body: new Blob([new Uint8Array(bytes)]) });

  test('has the time that its bytes need', async () => {
    vi.useFakeTimers();
    const sending = send(1200, 10_000_000);
    await vi.advanceTimersByTimeAsync(1_200_000);
    expect((await sending).text).toBe('stored');
  });
  test('ends some time later', async () => {
    vi.useFakeTimers();
    const failure = send(1400, 10_000_000).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_300_000);
    const message = 'The upload did not end within 1300 s.';
    expect(await failure).toMatchObject({ name: 'TimeoutError', message });
  });
});
