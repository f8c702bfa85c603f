// Requests whose signal has aborted, and bodies that cannot be read.
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { startApiServer } from '../api-server.fixture.ts';
import { createByteSender } from './send-bytes.ts';

afterEach(() => vi.unstubAllGlobals());

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
