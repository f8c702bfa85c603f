// `complete` validates the stored bytes: missing, mismatched or broken uploads never become assets that play.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip } from '../../support/clips/clips.ts';
import { complete, IMAGE, offer, openUpload, putBytes, readAsset, settled } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { eventsOf, filesNaming, rows } from '../../support/service/traces.ts';
import { PROCESSED, tell } from '../../support/providers/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const clip = async (options: ClipOptions = {}): Promise<Buffer> => readFile(await makeClip(options));
const png = async (): Promise<Buffer> =>
  readFile(
    await makeClip({
      seconds: 1,
      audio: false,
      more: ['-frames:v', '1', '-c:v', 'png', '-f', 'image2', '-update', '1', '-pix_fmt', 'rgb24'],
    }),
  );
const mime = (type: string, filename = 'film') => ({ filename, mime_type: type });

test('complete before the upload is rejected with not_uploaded and changes nothing', async () => {
  const { asset, asset_id: id } = await openUpload(service, 'ann');
  for (const _ of [1, 2]) {
    const answer = await complete(service, 'ann', id);
    expect([answer.status, answer.body.error]).toEqual([
      400,
      { error_code: 'BAD_REQUEST', details: { reason: 'not_uploaded' } },
    ]);
  }
  expect(await readAsset(service, 'ann', id)).toEqual(asset);
  expect(await eventsOf(service.dataDir, id)).toEqual(['asset.created']);
});

test('bytes of another length than announced are rejected; the right ones are accepted', async () => {
  const bytes = await clip();
  const started = await openUpload(service, 'ann', { size_bytes: bytes.length });
  for (const wrong of [bytes.subarray(1), Buffer.concat([bytes, Buffer.alloc(1)])]) {
    expect((await putBytes(started, wrong)).body.error).toMatchObject({
      error_code: 'BAD_REQUEST',
      details: { field: 'size_bytes', expected: bytes.length },
    });
    expect((await complete(service, 'ann', started.asset_id)).body.error.details).toEqual({
      reason: 'not_uploaded',
    });
    expect(await filesNaming(service.dataDir, started.asset_id)).toEqual([]);
  }
  expect((await putBytes(started, bytes)).status).toBe(200);
  expect((await complete(service, 'ann', started.asset_id)).status).toBe(200);
});

type Refused = {
  readonly what: string;
  readonly reason: string;
  readonly bytes: () => Promise<Buffer>;
  readonly fields?: object;
};

const REFUSED: Refused[] = [
  {
    what: 'with another checksum than announced',
    reason: 'checksum_mismatch',
    bytes: () => clip(),
    fields: { checksum_sha256: 'a'.repeat(64) },
  },
  { what: 'of a PNG that is called an MP4', reason: 'type_mismatch', bytes: png },
  { what: 'of an MP4 that is called a PNG', reason: 'type_mismatch', bytes: () => clip(), fields: IMAGE },
  {
    what: 'of a WebM that is called an MP4',
    reason: 'type_mismatch',
    bytes: () => clip({ container: 'webm', seconds: 1 }),
  },
  {
    what: 'of a playlist that is called an MP4',
    reason: 'playlist',
    bytes: async () =>
      Buffer.from('#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n'),
  },
  {
    what: 'of a DASH manifest that is called a transport stream',
    reason: 'playlist',
    bytes: async () => Buffer.from('<?xml version="1.0"?><MPD><BaseURL>http://127.0.0.1/</BaseURL></MPD>'),
    fields: mime('video/mp2t'),
  },
  { what: 'of sound alone', reason: 'no_video_track', bytes: () => clip({ more: ['-vn'] }) },
  {
    what: 'of sound alone in Matroska',
    reason: 'no_video_track',
    bytes: () => clip({ container: 'mkv', more: ['-vn'] }),
    fields: mime('video/x-matroska'),
  },
  {
    what: 'that end early, their index in front',
    reason: 'truncated',
    bytes: async () => withoutEnd(await clip({ faststart: true, seconds: 4 }), 0.3),
  },
  {
    what: 'that end before the index',
    reason: 'not_media',
    bytes: async () => withoutEnd(await clip({ seconds: 4 }), 0.3),
  },
  {
    what: 'that only begin like an MP4',
    reason: 'not_media',
    bytes: async () => Buffer.concat([(await clip()).subarray(0, 32), Buffer.alloc(5000, 7)]),
  },
];

const withoutEnd = (bytes: Buffer, part: number): Buffer =>
  bytes.subarray(0, Math.floor(bytes.length * (1 - part)));

describe('complete rejects and removes bytes', () => {
  test.each(REFUSED)('$what: $reason', async ({ reason, bytes, fields = {} }) => {
    const { id, stored, completed } = await offer(service, 'ann', { bytes: await bytes(), fields });
    expect(stored.status).toBe(200);
    expect([completed.status, completed.body.error]).toEqual([
      400,
      { error_code: 'BAD_REQUEST', details: { reason } },
    ]);

    const asset = await readAsset(service, 'ann', id);
    expect(asset).toMatchObject({
      stream_status: 'failed',
      progress: 0,
      playback: null,
      playable_at: null,
      failure: { code: reason, message: completed.body.message, retryable: true },
    });
    const again = await complete(service, 'ann', id);
    expect([again.status, again.body.message, again.body.error]).toEqual([
      400,
      completed.body.message,
      completed.body.error,
    ]);
    expect(await readAsset(service, 'ann', id)).toEqual(asset);
    expect(await eventsOf(service.dataDir, id)).toEqual(['asset.created', 'asset.uploaded', 'asset.failed']);
    expect(
      await rows(
        service.dataDir,
        `select id from pgboss.job where name = 'encode-asset' and data->>'assetId' = $1`,
        [id],
      ),
    ).toEqual([]);
    await eventually(
      () => filesNaming(service.dataDir, id),
      (files) => files.length === 0,
    );
  });
});

test('rejected bytes are not available to a later attempt', async () => {
  const { id } = await offer(service, 'ann', { bytes: await png() });
  expect(await tell(service, 'onprem', { asset_id: id, status: 'failed', attempt: 2 })).toEqual(PROCESSED);
  const download = await call(service, `GET /media/${id}/download-url`, { headers: asUser('ann') });
  expect([download.status, download.body.error.details]).toEqual([404, { reason: 'not_uploaded' }]);
  const retried = await call(service, `POST /media/${id}/retry?expand=asset`, { headers: asUser('ann') });
  const upload = { protocol: expect.stringMatching(/^(?:put|s3-multipart)$/) };
  expect(retried.body.data).toMatchObject({ asset: { stream_status: 'pending_upload' }, upload });
  await eventually(
    () => filesNaming(service.dataDir, id),
    (files) => files.length === 0,
  );
});

describe('truncated bytes with an intact head', () => {
  test.each<[string, ClipOptions]>([
    ['a transport stream', { container: 'ts' }],
    ['a Matroska film', { container: 'mkv' }],
  ])(
    'end as failed or as a shorter video: %s',
    async (_, options) => {
      const { id, completed } = await offer(service, 'ann', {
        bytes: withoutEnd(await clip({ ...options, seconds: 4 }), 0.4),
        fields: mime(options.container === 'ts' ? 'video/mp2t' : 'video/x-matroska'),
      });
      const asset = await settled(service, 'ann', id);
      expect(completed.status === 200 || asset.stream_status === 'failed').toBe(true);
      if (asset.stream_status === 'failed') expect(asset.failure?.code).toBe('truncated');
      else expect(asset['duration_ms']).toBeLessThan(4000);
    },
    60_000,
  );
});

test('repeated and concurrent completes start the work once', async () => {
  const bytes = await clip();
  const started = await openUpload(service, 'ann', {
    size_bytes: bytes.length,
    checksum_sha256: createHash('sha256').update(bytes).digest('hex').toUpperCase(),
  });
  const id = started.asset_id;
  expect((await putBytes(started, bytes)).status).toBe(200);
  const answers = await Promise.all(Array.from({ length: 5 }, () => complete(service, 'ann', id)));
  expect(answers.map(({ status, body }) => [status, body.data.id])).toEqual(answers.map(() => [200, id]));
  const asset = await settled(service, 'ann', id);
  expect(asset).toMatchObject({ stream_status: 'ready', failure: null });
  const again = await complete(service, 'ann', id);
  expect([again.status, again.body.data]).toEqual([200, asset]);
  expect((await eventsOf(service.dataDir, id)).sort()).toEqual([
    'asset.created',
    'asset.playable',
    'asset.processing',
    'asset.ready',
    'asset.uploaded',
  ]);
  expect(
    await rows(
      service.dataDir,
      `select count(*)::int as jobs from pgboss.job where name = 'encode-asset' and data->>'assetId' = $1`,
      [id],
    ),
  ).toEqual([{ jobs: 1 }]);
});

test('stored bytes are never overwritten', async () => {
  const bytes = await clip();
  const started = await openUpload(service, 'ann');
  expect((await putBytes(started, bytes)).status).toBe(200);
  const second = await putBytes(started, await clip({ seconds: 1 }));
  expect([second.status, second.body.error.details]).toEqual([409, { reason: 'already_uploaded' }]);
  expect((await readAsset(service, 'ann', started.asset_id))['size_bytes']).toBe(bytes.length);
});
