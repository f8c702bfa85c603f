// Uppy in Chromium uploads a large file to the service through broken connections, kills of the service and a
// reload of the page.
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BreakingProxy, startBreakingProxy } from '../support/http/breaking-proxy.ts';
import { freePort } from '../support/http/free-port.ts';
import { asUser, call } from '../support/service.ts';
import { newDataDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';
import { createLargeFile } from '../support/clips/test-data.ts';
import { openUppyPage, type UppyPage } from './uppy-page.ts';

const BYTES = createLargeFile(160);
const SIZE = BYTES.length;
const CUTS = 10;
const KILLS = 3;
/** After each of so many bytes, something breaks. */
const STEP = Math.floor(SIZE / (CUTS + KILLS + 2));

let dataDir: string;
let folder: string;
let file: string;
let digest: string;
let service: ServiceProcess;
let proxy: BreakingProxy;
let page: UppyPage;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-uppy-'));
  file = join(folder, 'film.mp4');
  digest = createHash('sha256').update(BYTES).digest('hex');
  await writeFile(file, BYTES);
  page = await openUppyPage();
  dataDir = await newDataDir();
  const port = await freePort();
  proxy = await startBreakingProxy(port);
  environment = {
    DATA_DIR: dataDir,
    PORT: String(port),
    PUBLIC_BASE_URL: proxy.origin,
    CORS_ORIGINS: page.origin,
    LOG_LEVEL: 'error',
  };
  service = await startProcess(environment);
});
afterAll(async () => {
  await page?.close();
  proxy?.close();
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  for (const path of [dataDir, folder]) await rm(path, { recursive: true, force: true, maxRetries: 5 });
});

test('every byte arrives once, and the file is stored as it was sent', async () => {
  const { body } = await call<{ asset_id: string; upload: { protocol: string } }>(
    service,
    'POST /media/upload-url?expand=asset',
    {
      headers: asUser('ann'),
      json: { filename: 'film.mp4', content_type: 'video', mime_type: 'video/mp4', size_bytes: SIZE },
    },
  );
  const { asset_id: id, upload: target } = body.data;
  expect(target.protocol).toBe('tus');
  await page.open(file);
  const interrupted = page.upload(target).catch(() => undefined);
  for (let cut = 0; cut < CUTS; cut += 1) await proxy.breakAfter(STEP);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await proxy.breakAfter(STEP);
    await service.end('SIGKILL');
    service = await startProcess(environment);
  }

  await page.open(file);
  expect(await interrupted, 'the page was left before its upload ended').toBeUndefined();
  const passedBefore = proxy.passed();
  expect(await page.upload(target)).toEqual({ uploaded: 1, errors: [] });
  expect(proxy.passed() - passedBefore, 'the new page sends only the rest').toBeLessThan(SIZE);

  const asset = await call(service, `GET /media/${id}`, { headers: asUser('ann') });
  expect(asset.body.data).toMatchObject({ size_bytes: SIZE, checksum_sha256: digest });
});
