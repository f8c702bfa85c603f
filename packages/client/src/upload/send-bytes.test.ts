// Requests whose signal has aborted, bodies that cannot be read, time limits, and forms.
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startApiServer } from '../api-server.fixture.ts';
import { encodeForm } from './form-body.ts';
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

test('a form shows its progress and length in Node, and is read by the rules of forms', async () => {
  const server = await startApiServer();
  server.handle((_request, response) => response.end());
  const file = new File([new Uint8Array(600_000)], 'a.mp4', { type: 'video/mp4' });
  const body = encodeForm({ 'a"b': 'ü\r\n1' }, file, 'Fi"lm\r\nü.mp4');
  const headers = { 'content-type': body.type };
  const sent: number[] = [];
  const onSent = (bytes: number) => sent.push(bytes);
  await createByteSender(undefined)({ method: 'POST', url: server.url, headers, body, onSent });
  const [received] = server.requests;
  expect(received?.headers).toMatchObject({ 'content-length': `${body.size}` });
  expect(sent.slice(0, 2)).toEqual([262_144, 524_288]);
  const form = await new Response(received?.body, { headers }).formData();
  expect(form.get('a"b')).toBe('ü\r\n1');
  const uploaded = form.get('file') as File;
  expect([uploaded.name, uploaded.type, uploaded.size]).toEqual(['Fi"lm\r\nü.mp4', 'video/mp4', 600_000]);
  await server.close();
});
