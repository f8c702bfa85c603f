// A start, and a stop that tells load balancers first. Idle clients do not delay it, and can repeat requests.
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IMAGE, openUpload, putBytes } from '../../support/media.ts';
import { openSocket } from '../../support/http/raw-socket.ts';
import { asUser, call, eventually } from '../../support/service.ts';
import { newDatabaseDir } from '../../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../../support/service/service-process.ts';
import { filesNaming, processesNaming } from '../../support/service/traces.ts';

const BYTES = Buffer.alloc(20_000_000, 'bytes that fill the buffers of a socket ');

let dataDir: string;
let service: ServiceProcess;
beforeAll(async () => {
  dataDir = await newDatabaseDir();
  service = await startProcess({ DATA_DIR: dataDir });
});
afterAll(async () => {
  await service.end('SIGKILL');
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

async function dawdle(line: string, url: URL, headers: readonly string[] = []): Promise<Socket> {
  const socket = await openSocket(url.origin);
  socket.on('error', () => {}); // To be cut off is what it is here for.
  socket.write(
    [`${line} ${url.pathname}${url.search} HTTP/1.1`, 'Host: mediary.test', ...headers, '', ''].join('\r\n'),
  );
  return socket;
}

test('the log of the start contains no link that signs in', () => {
  expect(service.log()).toContain('service started');
  expect(service.log()).not.toContain('#code=');
});

test('the service stops during an idle upload and download, and both can be repeated', async () => {
  const stored = await openUpload(service, 'ann', IMAGE);
  expect((await putBytes(stored, BYTES)).status).toBe(200);
  const { body } = await call<{ url: string }>(service, `GET /media/${stored.asset_id}/download-url`, {
    headers: asUser('ann'),
  });
  const download = await dawdle('GET', new URL(body.data.url));
  const [head] = await once(download, 'data');
  expect(String(head)).toMatch(/^HTTP\/1\.1 200 /);
  download.pause();

  const begun = await openUpload(service, 'ann', IMAGE);
  const upload = await dawdle('PUT', new URL(begun.upload_url ?? ''), [
    'Content-Type: image/png',
    `Content-Length: ${BYTES.length}`,
  ]);
  upload.write(BYTES.subarray(0, BYTES.length / 2));

  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(await processesNaming(dataDir)).toEqual([]);

  service = await startProcess({ DATA_DIR: dataDir });
  expect(await filesNaming(dataDir, begun.asset_id)).toEqual([]);
  const { pathname, search } = new URL(begun.upload_url ?? '');
  expect(
    (await putBytes({ ...begun, upload_url: `${new URL(service.url).origin}${pathname}${search}` }, BYTES))
      .status,
  ).toBe(200);
});

test('with DRAIN_S a stopping service is not ready, but still answers requests', async () => {
  const dataDirOfDrain = await newDatabaseDir();
  const draining = await startProcess({ DATA_DIR: dataDirOfDrain, DRAIN_S: '1' });
  const statusOf = async (path: string) => (await fetch(new URL(path, draining.url))).status;
  expect(await statusOf('/readyz')).toBe(200);
  const ended = draining.end('SIGTERM');
  await eventually(
    () => statusOf('/readyz'),
    (status) => status === 503,
  );
  expect(await statusOf('/healthz')).toBe(200);
  expect((await openUpload(draining, 'ann', IMAGE)).asset_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(await ended).toEqual({ code: 0, signal: null });
  await rm(dataDirOfDrain, { recursive: true, force: true });
});
