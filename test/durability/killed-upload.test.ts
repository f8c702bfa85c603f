// An API process is killed while it receives a file: the client's own retries store it at another process.
import { createHash, randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { createMediary } from '@mediary/client';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { Upload } from 'tus-js-client';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type BreakingProxy, startBreakingProxy } from '../support/http/breaking-proxy.ts';
import { makeClip } from '../support/clips/clips.ts';
import { openUpload, readAsset, VIDEO } from '../support/media.ts';
import { urlOf } from '../support/postgres/postgres.ts';
import { asUser, call, tokenOf } from '../support/service.ts';
import { newDatabaseDir, newDataDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';
import { tusUrl } from '../support/uploads/tus.ts';

const MIB = 1024 * 1024;
const SIZE = 48 * MIB + 12_345;
/** More than the buffers of all sockets hold: the process reads the file, under its lease. */
const KILL_AFTER = 24 * MIB;

let bytes: Buffer;
let folders: string[];
let postgres: EmbeddedPostgres;
let proxy: BreakingProxy;
let settings: Record<string, string>;
/** The proxy sends connections to the first one. */
const processes: ServiceProcess[] = [];

const portOf = (process: ServiceProcess | undefined) => Number(new URL(process?.url ?? '').port);

beforeAll(async () => {
  const clip = await readFile(await makeClip({ seconds: 1 }));
  bytes = Buffer.concat([clip, randomBytes(SIZE - clip.length)]);
  const [databaseDir, dataDir] = [await newDatabaseDir(), await newDataDir()];
  folders = [databaseDir, dataDir];
  postgres = await startEmbeddedPostgres(databaseDir);
  proxy = await startBreakingProxy(() => portOf(processes[0]));
  settings = {
    DATABASE_URL: urlOf(postgres),
    DATA_DIR: dataDir,
    STORAGE_URL: `file:${dataDir}/objects`,
    MEDIARY_ROLE: 'api',
    PUBLIC_BASE_URL: proxy.origin,
    LOG_LEVEL: 'error',
  };
});
beforeEach(async () => {
  while (processes.length < 2) processes.push(await startProcess(settings));
});
afterAll(async () => {
  vi.restoreAllMocks();
  proxy?.close();
  await Promise.all(processes.map((process) => process.end('SIGKILL')));
  for (const folder of folders) await endAllIn(folder);
  await postgres?.stop();
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
});

/** Kills the process that receives the file, once. */
function createKiller(): (sent: number) => void {
  const [victim] = processes;
  return (sent) => {
    if (sent < KILL_AFTER || processes[0] !== victim) return;
    processes.shift();
    void victim?.end('SIGKILL');
  };
}

test('a PUT of the SDK is sent again when the lease of the killed process has expired', async () => {
  const kill = createKiller();
  const refused: unknown[] = [];
  const platformFetch = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
    const response = await platformFetch(...request);
    if (response.status === 409) refused.push(Number(response.headers.get('retry-after')));
    return response;
  });
  const { media } = createMediary({ baseUrl: proxy.origin, token: tokenOf('ann') });
  const { id } = await media.upload(new Blob([bytes]), {
    filename: 'film.mp4',
    protocol: 'put',
    onProgress: ({ bytesSent }) => kill(bytesSent),
  });
  vi.restoreAllMocks();
  await expectStored(id);
  expect(refused.length).toBeGreaterThan(0);
  for (const seconds of refused) {
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(10);
  }
});

test('tus-js-client continues with its own delays where the killed process had stored bytes', async () => {
  const kill = createKiller();
  const started = await openUpload({ url: `${proxy.origin}/api/v1` }, 'ann', { ...VIDEO, size_bytes: SIZE });
  await new Promise<void>((resolve, reject) => {
    new Upload(bytes, {
      endpoint: tusUrl(started),
      chunkSize: 16 * MIB,
      onProgress: kill,
      onSuccess: () => resolve(),
      onError: reject,
    }).start();
  });
  expect(processes, 'one was killed').toHaveLength(1);
  await expectStored(started.asset_id);
});

async function expectStored(id: string): Promise<void> {
  const api = { url: `${proxy.origin}/api/v1` };
  expect(await readAsset(api, 'ann', id)).toMatchObject({
    size_bytes: SIZE,
    checksum_sha256: createHash('sha256').update(bytes).digest('hex'),
  });
  const { body } = await call<{ url: string }>(api, `GET /media/${id}/download-url`, {
    headers: asUser('ann'),
  });
  expect(Buffer.from(await (await fetch(body.data.url)).arrayBuffer()).equals(bytes)).toBe(true);
}
