// A large resumable upload survives broken connections and kills of the service.
// No acknowledged byte is lost.
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asUser, call, eventually } from '../support/service.ts';
import { newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';
import { freePort } from '../support/http/free-port.ts';
import { createLargeFile } from '../support/clips/test-data.ts';
import { beginPatch } from '../support/uploads/tus.ts';

const MIB = 1024 * 1024;
const CUTS = 10;
const KILLS = 3;

let dataDir: string;
let environment: Record<string, string>;
let service: ServiceProcess;
const bytes = createLargeFile(256);
const SIZE = bytes.length;
const QUARTER = Math.ceil(SIZE / 4);

beforeAll(async () => {
  dataDir = await newDatabaseDir();
  // The same port after each start, as clients of a real service see it.
  environment = { DATA_DIR: dataDir, PORT: String(await freePort()), LOG_LEVEL: 'error' };
  service = await startProcess(environment);
});
afterAll(async () => {
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

const TUS = { 'tus-resumable': '1.0.0' };

async function openTarget(): Promise<{ id: string; target: string }> {
  const { body } = await call<{ asset_id: string; upload: { url: string; protocol: string } }>(
    service,
    'POST /media/upload-url?expand=asset',
    {
      headers: asUser('ann'),
      json: { filename: 'film.mp4', content_type: 'video', mime_type: 'video/mp4', size_bytes: SIZE },
    },
  );
  expect(body.data.upload.protocol).toBe('tus');
  return { id: body.data.asset_id, target: body.data.upload.url };
}

async function createAt(target: string, headers: Record<string, string>): Promise<string> {
  const created = await fetch(target, { method: 'POST', headers: { ...TUS, ...headers } });
  expect(created.status).toBe(201);
  return new URL(created.headers.get('location') as string, target).href;
}

/** Waits until the service answers again. */
async function offsetOf(url: string): Promise<number> {
  const response = await eventually(
    () => fetch(url, { method: 'HEAD', headers: TUS }).catch(() => undefined),
    (answer) => answer?.status === 200,
    { withinMs: 60_000 },
  );
  return Number(response?.headers.get('upload-offset'));
}

const patch = (url: string, offset: number, sent: Uint8Array) =>
  fetch(url, {
    method: 'PATCH',
    headers: {
      ...TUS,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(offset),
    },
    body: sent,
  });

async function expectStored(id: string): Promise<void> {
  const asset = await call(service, `GET /media/${id}`, { headers: asUser('ann') });
  const digest = createHash('sha256').update(bytes).digest('hex');
  expect(asset.body.data).toMatchObject({ size_bytes: SIZE, checksum_sha256: digest });
  const { body } = await call<{ url: string }>(service, `GET /media/${id}/download-url`, {
    headers: asUser('ann'),
  });
  const stored = Buffer.from(await (await fetch(body.data.url)).arrayBuffer());
  expect(stored.equals(bytes)).toBe(true);
}

/** Announces all bytes that are left, sends some of them, and then interrupts. */
async function sendSome(url: string, offset: number, interrupt: () => Promise<unknown>): Promise<void> {
  const socket = await beginPatch(url, { offset, length: SIZE - offset });
  socket.on('error', () => {
    // The service may reset the connection when it is killed.
  });
  const sent = new Promise((written) => {
    socket.write(bytes.subarray(offset, offset + 18 * MIB + 77), written);
  });
  await Promise.race([sent, new Promise((closed) => socket.once('close', closed))]);
  await interrupt();
  socket.destroy();
}

test('every acknowledged byte stays, and the whole file is stored as it was sent', async () => {
  const { id, target } = await openTarget();
  const url = await createAt(target, { 'upload-length': String(SIZE) });
  let acknowledged = 0;
  const resume = async (): Promise<number> => {
    const offset = await offsetOf(url);
    expect(offset, 'no acknowledged byte is lost').toBeGreaterThanOrEqual(acknowledged);
    acknowledged = offset;
    return offset;
  };
  for (let cut = 0; cut < CUTS; cut += 1) await sendSome(url, await resume(), async () => {});
  for (let kill = 0; kill < KILLS; kill += 1) {
    const offset = await resume();
    const { status, headers } = await patch(url, offset, bytes.subarray(offset, offset + 3 * MIB + 1));
    expect(status).toBe(204);
    acknowledged = Number(headers.get('upload-offset'));
    expect(acknowledged).toBe(offset + 3 * MIB + 1);
    await sendSome(url, acknowledged, () => service.end('SIGKILL'));
    service = await startProcess(environment);
  }
  const offset = await resume();
  expect(offset).toBeGreaterThan(100 * MIB);
  expect((await patch(url, offset, bytes.subarray(offset))).status).toBe(204);
  expect(await offsetOf(url)).toBe(SIZE);
  await expectStored(id);
});

test('parts that a killed process was joining are joined by the repeated request', async () => {
  const { id, target } = await openTarget();
  const urls: string[] = [];
  for (let start = 0; start < SIZE; start += QUARTER) {
    const part = bytes.subarray(start, start + QUARTER);
    const url = await createAt(target, { 'upload-concat': 'partial', 'upload-length': String(part.length) });
    expect((await patch(url, 0, part)).status).toBe(204);
    urls.push(url);
  }
  const join = () =>
    fetch(target, { method: 'POST', headers: { ...TUS, 'upload-concat': `final;${urls.join(' ')}` } });
  const killed = join().catch(() => undefined);
  // The first part is removed when its bytes are recorded.
  await eventually(
    () => fetch(urls[0] as string, { method: 'HEAD', headers: TUS }),
    ({ status }) => status === 404,
    { withinMs: 60_000 },
  );
  await service.end('SIGKILL');
  await killed;
  service = await startProcess(environment);
  await eventually(join, ({ status }) => status === 201, { withinMs: 60_000 });
  await expectStored(id);
});
