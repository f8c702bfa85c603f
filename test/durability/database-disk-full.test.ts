// The disk of the embedded database fills up: writes get 503, reads still work, and the service recovers by
// itself.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freeBytes } from '../../service/src/platform/disk/free-space.ts';
import { expectRefusal, expectSuccess } from '../support/http/envelope.ts';
import { complete, IMAGE, openUpload, putBytes, settled, type Started } from '../support/media.ts';
import {
  type Answer,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { newDataDir } from '../support/service/data-folders.ts';
import { fillDisk, mountTightDisk, type TightDisk } from '../support/service/small-disk.ts';

const MIB = 1024 * 1024;
const RESERVE = 32 * MIB;
const headers = asUser('ann');

let disk: TightDisk;
let dataDir: string;
let storeDir: string;
let service: TestService;
let exits: Error[];
let waiting: Started;
let deleted: Started;

beforeAll(async () => {
  [dataDir, storeDir] = [await newDataDir(), await newDataDir()];
  disk = await mountTightDisk(dataDir, { bytes: 200 * MIB, reserve: RESERVE });
  exits = [];
  service = await startTestService(
    {
      DATA_DIR: dataDir,
      STORAGE_URL: pathToFileURL(storeDir).href,
      LOG_LEVEL: 'silent',
      MIN_FREE_BYTES: String(RESERVE),
    },
    { onDatabaseExit: (error) => exits.push(error) },
  );
  waiting = await openUpload(service, 'ann', IMAGE);
  deleted = await openUpload(service, 'ann', IMAGE);
});

afterAll(async () => {
  await service?.stop();
  await disk?.unmount();
  await Promise.all(
    [dataDir, storeDir].map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })),
  );
});

const needsMount = () => [disk.wrapAdapters !== undefined, 'needs the right to mount a tmpfs'] as const;
const filler = () => join(dataDir, 'of-another-program');
const ready = () => call(service, `GET ${service.address}/readyz?for=uploads`);
/** A result is kept for a second. */
const notReady = () => eventually(ready, ({ status }) => status !== 200);
const open = (more: object = {}) =>
  call<Started>(service, 'POST /media/upload-url?expand=asset', {
    headers,
    json: { filename: 'a.png', content_type: 'image', mime_type: 'image/png', ...more },
  });

function expectDiskFull(answer: Answer<unknown>): void {
  expect(expectRefusal(answer as Answer, 503)).toMatchObject({
    error_code: 'UNAVAILABLE',
    details: { reason: 'disk_full' },
  });
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
}

test('below the reserve uploads are rejected and deletes still work', async ({ skip }) => {
  skip(...needsMount());
  expectSuccess(await ready());
  await fillDisk(filler(), { leave: RESERVE / 2 });
  for (const answer of [await open(), await putBytes(waiting, Buffer.from('bytes')), await notReady()])
    expectDiskFull(answer);
  expectSuccess(await call(service, `GET /media/${waiting.asset_id}`, { headers }));
  expectSuccess(await call(service, `DELETE /media/${deleted.asset_id}`, { headers }));
  await rm(filler());
  expectSuccess(await eventually(ready, ({ status }) => status === 200));
});

test('without free space writes get 503 and reads still work', async ({ skip }) => {
  skip(...needsMount());
  await fillDisk(filler());
  expect(await freeBytes(dataDir)).toBe(0);
  const edits: number[] = [];
  for (let edit = 0; edit < 300; edit++) {
    // Random text is stored as it is: what compresses well would find room for long.
    const metadata = { text: Array.from({ length: 200 }, () => Math.random().toString(36)).join('') };
    const answer = await call(service, `PATCH /media/${waiting.asset_id}`, { headers, json: { metadata } });
    if (answer.status !== 200) expectDiskFull(answer);
    edits.push(answer.status);
  }
  expect(edits).toContain(503);
  expectDiskFull(await notReady());
  expectSuccess(await call(service, `GET /media/${waiting.asset_id}`, { headers }));
  expect(exits).toEqual([]);
});

test('it recovers when space is free again, and finishes an image', async ({ skip }) => {
  skip(...needsMount());
  await rm(filler());
  await eventually(ready, ({ status }) => status === 200);
  expectSuccess(
    await putBytes(
      waiting,
      await sharp({ create: { width: 40, height: 30, channels: 3, background: 'teal' } })
        .png()
        .toBuffer(),
    ),
  );
  expectSuccess(await complete(service, 'ann', waiting.asset_id));
  expect(await settled(service, 'ann', waiting.asset_id)).toMatchObject({ stream_status: 'ready' });
});
