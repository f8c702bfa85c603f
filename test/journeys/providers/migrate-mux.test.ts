// An operator moves an environment of Mux: masters, captions, and another attempt after a failure.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { makeSound } from '../../support/clips/sounds.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import type { AssetJson } from '../../support/media.ts';
import { type MuxApi, startMuxApi } from '../../support/providers/mux-api.ts';
import { runCli } from '../../support/service/cli.ts';
import { asUser, call, startTestService, type TestService, tokenOf } from '../../support/service.ts';

const TEXT = { type: 'text', text_type: 'subtitles', status: 'ready', language_code: 'de', name: 'Deutsch' };

let mux: MuxApi;
let service: TestService;
beforeAll(async () => {
  const master = await readFile(await makeClip({ seconds: 2 }));
  const sound = await readFile(await makeSound({ seconds: 2, container: 'm4a' }));
  const video = { status: 'ready', duration: 2.02, created_at: '1714979289' };
  const tracks = [
    { id: 'picture', type: 'video' },
    { id: 'text-1', closed_captions: true, ...TEXT },
  ];
  const ids = [{ id: 'play-1', policy: 'public' }];
  const assets = [
    { ...video, id: 'open', meta: { title: 'Open day' }, passthrough: 'order-1', playback_ids: ids, tracks },
    { ...video, id: 'closed', playback_ids: [{ id: 'play-2', policy: 'signed' }] },
    { ...video, id: 'talk', tracks: [{ id: 'sound', type: 'audio' }] },
    { ...video, id: 'broken', status: 'errored', errors: { messages: ['No video.'] } },
  ];
  mux = await startMuxApi(
    assets.map((asset) => ({
      asset,
      master: asset.id === 'talk' ? sound : master,
      misses: asset.id === 'closed' ? 1 : 0,
    })),
    { '/play-1/text/text-1.vtt': 'WEBVTT\n\n00:00.000 --> 00:01.000\nGuten Tag\n' },
  );
  service = await startTestService({ OUTBOUND_ALLOW_PRIVATE: 'import' });
});
afterAll(async () => {
  await service?.stop();
  await mux?.server.stop();
});

async function reportOf(command: string, exitCode = 0) {
  const { code, stdout, stderr } = await runCli(
    ['migrate', ...command.split(' '), '--from', 'mux', '--json'],
    {
      folder: service.dataDir,
      env: { ...mux.environment, MEDIARY_URL: service.address, MEDIARY_TOKEN: tokenOf('ann') },
    },
  );
  expect(code, stderr).toBe(exitCode);
  return JSON.parse(stdout);
}

async function findAsset(id: string): Promise<AssetJson> {
  const path = `GET /media?external_id=mux:${id}`;
  const page = expectSuccess(await call(service, path, { headers: asUser('ann') }));
  return (page as { items: AssetJson[] }).items[0] as AssetJson;
}

test('masters and captions are moved; a failed import gets another attempt with a new URL', async () => {
  expect((await reportOf('plan')).counts).toMatchObject({ new_count: 3, not_movable_count: 1 });
  const first = await reportOf('run --wait --tag moved', 1);
  expect(first.counts).toMatchObject({ imported_count: 2, failed_count: 1 });
  expect(first.items).toContainEqual(
    expect.objectContaining({ source_id: 'closed', reason: expect.stringMatching(/^import_failed: .*404/) }),
  );
  const asset = await findAsset('open');
  expect(asset).toMatchObject({
    ...{ title: 'Open day', visibility: 'public', tags: ['moved'], stream_status: 'ready' },
    metadata: { passthrough: 'order-1', source: { service: 'mux', id: 'open' } },
  });
  expect(await findAsset('talk')).toMatchObject({ kind: 'audio', stream_status: 'ready' });
  const captions = await call(service, `GET /media/${asset.id}/captions`, { headers: asUser('ann') });
  expect(expectSuccess(captions)).toMatchObject({
    items: [{ language: 'de', label: 'Deutsch', kind: 'captions' }],
  });

  const failed = await findAsset('closed');
  expect((await reportOf('run', 1)).counts).toMatchObject({ failed_count: 1, existing_count: 2 });
  expect((await findAsset('closed')).id).toBe(failed.id);
  expect((await reportOf('run --wait --retry-failed')).counts).toMatchObject({ imported_count: 1 });
  expect(await findAsset('closed')).toMatchObject({ visibility: 'private', stream_status: 'ready' });
  expect((await reportOf('verify')).counts).toMatchObject({ equal_count: 3, not_movable_count: 1 });
});
