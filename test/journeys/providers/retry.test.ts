// A retry is accepted if it can succeed, and rejected with a reason if it cannot (contract B2, B7).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, ingest, offer, readAsset, settled } from '../../support/media.ts';
import { phonePhoto } from '../../support/clips/pictures.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';
import { eventsOf } from '../../support/service/traces.ts';
import { tell } from '../../support/providers/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const retry = (id: string, headers: Record<string, string> = asUser('ann')) =>
  call(service, `POST /media/${id}/retry?expand=asset`, {
    headers,
    ...('x-service-key' in headers && { json: { owner_user_id: 'ann' } }),
  });

/** A picture that failed in its job: the upload is fine, the end is missing. */
async function brokenPicture(): Promise<string> {
  const photo = await phonePhoto({ width: 640, height: 480, orientation: 1 });
  const { id } = await offer(service, 'ann', {
    bytes: photo.subarray(0, photo.length / 2),
    fields: { ...IMAGE, mime_type: 'image/jpeg' },
  });
  await settled(service, 'ann', id);
  return id;
}

test('a retry of an image that cannot be decoded is rejected', async () => {
  const id = await brokenPicture();
  const before = await readAsset(service, 'ann', id);
  expect(before).toMatchObject({ stream_status: 'failed', failure: { retryable: false } });
  for (const headers of [asUser('ann'), asService]) {
    const { error_code, details, message } = expectRefusal(await retry(id, headers), 409);
    expect(error_code).toBe('CONFLICT');
    expect(details).toEqual({ reason: before.failure?.code, retryable: false });
    expect(message).toBe(
      `This asset cannot be retried: ${before.failure?.message} Upload a corrected file as a new asset.`,
    );
  }
  expect(await readAsset(service, 'ann', id)).toEqual(before);
  expect((await eventsOf(service.dataDir, id)).filter((type) => type === 'asset.processing')).toHaveLength(1);
});

test('another user gets FORBIDDEN only', async () => {
  expectRefusal(await retry(await brokenPicture(), asUser('eve')), 403);
});

test.each([
  [true, 200],
  [false, 409],
])('an encoder decides with retryable: %s', async (retryable, status) => {
  const { id } = await ingest(service, 'ann', { file: await makeClip({ seconds: 1 }) });
  await tell(service, 'onprem', {
    asset_id: id,
    status: 'failed',
    attempt: 2,
    failure: { code: 'no_sound', message: 'No sound.', retryable },
  });
  const answer = await retry(id);
  expect(answer.status).toBe(status);
  if (status === 200) expectSuccess(answer);
  else expect(expectRefusal(answer, 409).message).toContain('cannot be retried: No sound. Upload');
});
