// A retry that opens a new upload at a hosted provider removes the video of the earlier upload (contract B4).
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  askUpload,
  HOSTED,
  type HostedName,
  type Hosts,
  startHosts,
} from '../../support/providers/hosted.ts';
import { readAsset } from '../../support/media.ts';
import { asUser, call } from '../../support/service.ts';
import { deliver, LIBRARY, linkVideo, PROCESSED, signatureOf } from '../../support/providers/webhooks.ts';

let hosts: Hosts;
beforeAll(async () => {
  hosts = await startHosts();
});
afterAll(() => hosts?.stop());

const SECRET_SETTINGS: Readonly<Record<HostedName, string>> = {
  cdnhost: 'CDNHOST_STREAM_READ_ONLY_API_KEY',
  edgehost: 'EDGEHOST_STREAM_WEBHOOK_SECRET',
};

/** Reports a failure after which both providers need another upload. */
async function reportFailure(provider: HostedName, videoId: string): Promise<void> {
  const { environment } = hosts.sims;
  const body =
    provider === 'cdnhost'
      ? {
          VideoLibraryId: Number(environment['CDNHOST_STREAM_LIBRARY_ID'] ?? LIBRARY),
          VideoGuid: videoId,
          Status: 8,
        }
      : { uid: videoId, status: { state: 'error' } };
  const headers = signatureOf(provider, body, { secret: environment[SECRET_SETTINGS[provider]] ?? '' });
  expect(await deliver(hosts.service, provider, { body, headers })).toEqual(PROCESSED);
}

const videosAt = (provider: HostedName): string => JSON.stringify(hosts.sims[provider].videos());
type Retried = { stream_status: string; provider_video_id: string; upload_url: string | null };
const retry = async (id: string): Promise<Retried> => {
  const { status, body } = await call<{ asset: Retried; upload_url: string | null }>(
    hosts.service,
    `POST /media/${id}/retry?expand=asset`,
    { headers: asUser('ann') },
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return { ...body.data.asset, upload_url: body.data.upload_url };
};

test.each(HOSTED)('at %s the old video is gone and the new one takes the bytes', async (provider) => {
  const { asset, asset_id: id } = (await askUpload(hosts.service, provider)).body.data;
  const oldVideo = String(asset['provider_video_id']);
  await reportFailure(provider, oldVideo);
  expect(await readAsset(hosts.service, 'ann', id)).toMatchObject({ failure: { retryable: true } });
  expect(videosAt(provider)).toContain(oldVideo);

  const retried = await retry(id);
  expect(retried).toMatchObject({ stream_status: 'pending_upload', upload_url: expect.any(String) });
  expect(retried.provider_video_id).not.toBe(oldVideo);
  expect(videosAt(provider)).not.toContain(oldVideo);
  expect(videosAt(provider)).toContain(retried.provider_video_id);
});

test('a video that the caller linked stays at its provider', async () => {
  const { asset: other } = (await askUpload(hosts.service, 'edgehost')).body.data;
  const linkedVideo = String(other['provider_video_id']);
  await call(hosts.service, `DELETE /media/${other['id']}?trash=true`, { headers: asUser('ann') });
  expect(videosAt('edgehost')).toContain(linkedVideo);
  const { asset_id: id } = await linkVideo(hosts.service, {
    provider: 'edgehost',
    provider_video_id: linkedVideo,
  });
  await reportFailure('edgehost', linkedVideo);
  await retry(id);
  expect(videosAt('edgehost')).toContain(linkedVideo);
});
