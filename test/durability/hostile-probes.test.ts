// Eight videos that keep the probe busy: the uploads of another owner do not wait for any of them.
import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../support/clips/clips.ts';
import { complete, openUpload, putBytes } from '../support/media.ts';
import { newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';

const HOSTILE = 8;
/** Far longer than the videos of the other owner need: the order of answers tells who waited for whom. */
const LONG_PROBES = { PROBE_DEADLINE_MS: '15000', PROBE_WAIT_MS: '12000' };

let dataDir: string;
let service: ServiceProcess;
beforeAll(async () => {
  dataDir = await newDatabaseDir();
  service = await startProcess({ DATA_DIR: dataDir, MEDIARY_ROLE: 'api', ...LONG_PROBES });
});
afterAll(async () => {
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** A small MP4 whose index says that it holds 2^32 samples. */
async function endlessVideo(): Promise<Buffer> {
  const clip = await makeClip({
    seconds: 1,
    width: 160,
    height: 90,
    audio: false,
    faststart: true,
    more: ['-bf', '2'],
  });
  const bytes = await readFile(clip);
  bytes.writeUInt32BE(0xffff_ffff, bytes.indexOf('ctts') + 12);
  return bytes;
}

async function uploaded(owner: string, bytes: Uint8Array): Promise<string> {
  const started = await openUpload(service, owner);
  expect((await putBytes(started, bytes)).status).toBe(200);
  return started.asset_id;
}

test("an owner's hostile videos do not delay other owners, and are rejected", async () => {
  const hostile = await endlessVideo();
  const good = await readFile(await makeClip({ seconds: 1 }));
  const [attacks, victims] = await Promise.all([
    Promise.all(Array.from({ length: HOSTILE }, () => uploaded('mallory', hostile))),
    Promise.all(Array.from({ length: 5 }, () => uploaded('ann', good))),
  ]);

  let open = HOSTILE;
  const answers = attacks.map((id) =>
    complete(service, 'mallory', id).finally(() => {
      open -= 1;
    }),
  );
  for (const id of victims) {
    expect((await complete(service, 'ann', id)).status).toBe(200);
    expect(open).toBe(HOSTILE);
  }

  const ended = await Promise.all(answers);
  for (const { status, body, headers } of ended) {
    if (status === 503) expect(headers.get('retry-after')).toMatch(/^[1-9]/);
    expect([status, body.error.details?.['reason']]).toEqual(
      status === 503 ? [503, 'busy'] : [400, 'not_media'],
    );
  }
  expect(ended.some(({ status }) => status === 400)).toBe(true);

  // One that was sent away is judged when it comes again.
  const sentAway = attacks[ended.findIndex(({ status }) => status === 503)] ?? '';
  const { body } = await complete(service, 'mallory', sentAway);
  expect(body.error.details?.['reason']).toBe('not_media');
});
