// Metadata of a file never appears in logs, job rows, events, responses or renditions, but for what
// `media.photo` of an image tells (contract B7).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../../service/src/platform/observability/logger.ts';
import { type AssetJson, IMAGE, offer, readAsset, settled, VIDEO } from '../../support/media.ts';
import { phonePhoto, SECRETS_OF_A_PHOTO } from '../../support/clips/pictures.ts';
import { asOperator, asUser, call, startTestService, type TestService } from '../../support/service.ts';
import { CANARIES, damagedTaggedClip, makeTaggedClip } from '../../support/clips/tagged-clip.ts';
import { filesNaming, rows } from '../../support/service/traces.ts';

const lines: string[] = [];
const answers: string[] = [];
const canaries = [...CANARIES, ...SECRETS_OF_A_PHOTO.map(String)];

let service: TestService;
let whole: AssetJson;
let damaged: AssetJson;
beforeAll(async () => {
  const log = createLogger('debug', {
    write: (line) => {
      lines.push(line);
    },
  });
  service = await startTestService({}, { log });
  whole = await journey(await readFile(await makeTaggedClip()), VIDEO);
  damaged = await journey(await damagedTaggedClip(), VIDEO);
  const photo = await phonePhoto({ width: 64, height: 64, orientation: 6 });
  await journey(photo, { ...IMAGE, mime_type: 'image/jpeg' });
  await journey(photo.subarray(0, photo.length / 2), { ...IMAGE, mime_type: 'image/jpeg' });
  await journey(photo, VIDEO);
});
afterAll(() => service?.stop());

/** Everything that is answered about a file on its way, whatever becomes of it. */
async function journey(bytes: Uint8Array, fields: object): Promise<AssetJson> {
  const { id, stored, completed } = await offer(service, 'ann', { bytes, fields });
  const asset = await settled(service, 'ann', id);
  answers.push(JSON.stringify([stored.body, completed.body, asset]));
  for (const line of ['GET /media/ID/timeline', 'GET /media/ID/playback', 'POST /media/ID/retry'])
    answers.push(
      JSON.stringify((await call(service, line.replace('ID', id), { headers: asUser('ann') })).body),
    );
  // A retry of refused bytes waits for another upload.
  if ((await readAsset(service, 'ann', id)).stream_status === 'processing') await settled(service, 'ann', id);
  return asset;
}

/** Everyone who may read the asset sees the camera in `media.photo`. */
const TOLD = /(""?)camera\1: ?\1Canary Camera 9000\1/g;
const found = (text: string): string[] => canaries.filter((canary) => text.includes(canary));
const foundUntold = (text: string): string[] => found(text.replaceAll(TOLD, ''));
const failures = () =>
  lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['asset_id'] === damaged.id && 'ffmpeg_log' in line);

describe('files full of metadata', () => {
  test('are encoded, or fail in the encoder', () => {
    expect(whole.stream_status).toBe('ready');
    expect(damaged).toMatchObject({ stream_status: 'failed', failure: { code: expect.any(String) } });
  });

  test('a failed encode is logged with its code and at most 2 kB of the output of ffmpeg', () => {
    const [line = {}] = failures();
    expect(line['code']).toBe(damaged.failure?.code);
    expect(line['ffmpeg_log']).toMatch(/h264|aac/);
    expect(Buffer.byteLength(String(line['ffmpeg_log']))).toBeLessThanOrEqual(2000);
  });

  test('no log line contains the metadata, and no line is long', () => {
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      expect(found(line), line.slice(0, 500)).toEqual([]);
      expect(line.length, line.slice(0, 500)).toBeLessThan(10_000);
    }
  });

  test('no response contains the metadata', async () => {
    for (const line of ['GET /admin/deliveries', 'GET /admin/providers'])
      answers.push(JSON.stringify((await call(service, line, { headers: asOperator })).body));
    for (const answer of answers) expect(foundUntold(answer), answer.slice(0, 500)).toEqual([]);
    expect(answers.filter((answer) => found(answer).length > 0)).not.toEqual([]);
  });

  test.each(['pgboss.job', 'events', 'deliveries', 'assets'])(
    'no row of %s contains the metadata',
    async (table) => {
      const stored = await rows(service.dataDir, `select t::text as text from ${table} t`);
      expect(stored.length).toBeGreaterThan(0);
      const foundIn = table === 'assets' ? foundUntold : found;
      for (const { text } of stored) expect(foundIn(String(text)), String(text).slice(0, 500)).toEqual([]);
    },
  );

  test('no rendition contains the metadata', async () => {
    const files = await filesNaming(join(service.dataDir, 'objects'), `${whole.id}/`);
    const made = files.filter((file) => !file.includes('original'));
    expect(made.length).toBeGreaterThan(3);
    for (const file of made) expect(found((await readFile(file)).toString('latin1')), file).toEqual([]);
  });
});
