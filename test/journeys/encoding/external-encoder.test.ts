// The operator's own encoder takes the place of ours: it gets signed jobs and reports by webhook.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type ClockedService, startClockedService } from '../../support/service/clocked-service.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, complete, openUpload, putBytes, readAsset, settled } from '../../support/media.ts';
import { CLEAN, decode } from '../../support/clips/picture-and-sound.ts';
import { type ReferenceEncoder, startReferenceEncoder } from '../../support/encoding/reference-encoder.ts';
import { asOperator, asUser, call, eventually, SECRETS } from '../../support/service.ts';
import { signatureOf } from '../../support/providers/webhooks.ts';

let encoder: ReferenceEncoder;
let clocked: ClockedService;
let film: Buffer;
beforeAll(async () => {
  encoder = await startReferenceEncoder(SECRETS.ONPREM_WEBHOOK_SECRET);
  clocked = await startClockedService({
    ONPREM_ENCODER_URL: `${encoder.url}/jobs`,
    ONPREM_ENCODER_HEARTBEAT_S: '600',
    LOG_LEVEL: 'silent',
  });
  film = await readFile(await makeClip({ seconds: 4 }));
});
afterAll(async () => {
  await clocked?.service.stop();
  await encoder?.stop();
});
afterEach(() => encoder.misbehave({}));

async function completed(bytes = film): Promise<string> {
  const { service } = clocked;
  const started = await openUpload(service, 'ann');
  await putBytes(started, bytes);
  expectSuccess(await complete(service, 'ann', started.asset_id));
  return started.asset_id;
}
const read = (id: string): Promise<AssetJson> => readAsset(clocked.service, 'ann', id);
const ended = (id: string): Promise<AssetJson> => settled(clocked.service, 'ann', id);
const orderOf = (id: string) =>
  eventually(
    async () => encoder.orders.findLast((order) => order.asset_id === id),
    (order) => order !== undefined,
  );
const timeline = async (id: string): Promise<string[]> => {
  const { body } = await call<{ items: { sentence: string }[] }>(
    clocked.service,
    `GET /media/${id}/timeline`,
    { headers: asUser('ann') },
  );
  return body.data.items.map(({ sentence }) => sentence);
};
const untilTold = (id: string, text: string) =>
  eventually(
    () => timeline(id),
    (messages) => messages.some((message) => message.includes(text)),
  );

test('a video is encoded by the encoder and plays from its URLs', async () => {
  const id = await completed();
  expect(await ended(id)).toMatchObject({ stream_status: 'ready', progress: 100, warnings: [] });
  const order = await orderOf(id);
  expect(order).toMatchObject({
    attempt: 1,
    mime_type: 'video/mp4',
    size_bytes: film.length,
    checksum_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    duration_ms: 4000,
    width: 320,
    height: 180,
    callback_url: `${clocked.service.url}/webhooks/stream/onprem`,
    heartbeat_s: 600,
  });
  expect(Date.parse(order?.deadline ?? '')).toBeGreaterThan(Date.now() + 3_000_000);
  const { hls, embed, expires_at } = expectSuccess<{ hls: string; embed: string; expires_at: string }>(
    await call(clocked.service, `GET /media/${id}/playback`, { headers: asUser('ann') }),
  );
  expect([(await fetch(embed)).status, Date.parse(expires_at) > Date.now()]).toEqual([200, true]);
  expect(hls).toBe(`${encoder.url}/out/${id}-1/index.m3u8`);
  expect(await decode(hls)).toEqual(CLEAN);
  expect(await timeline(id)).toContainEqual(expect.stringContaining('external encoder accepted the video'));
});

test('our own workers get no job, and the diagnostics reach the encoder', async () => {
  const { body } = await call(clocked.service, 'GET /admin/encodes', { headers: asOperator });
  expect(body.data).toMatchObject({ running: 0, waiting: 0 });
  const diagnostics = await call<{ findings: { check: string }[] }>(
    clocked.service,
    'GET /admin/diagnostics',
    { headers: asOperator },
  );
  expect(diagnostics.body.data.findings).toContainEqual(
    expect.objectContaining({ check: 'provider.onprem', status: 'ok' }),
  );
});

test('a broken file fails with the reason of the encoder, and a retry is a new attempt', async () => {
  encoder.misbehave({
    report: (report) => (report.status === 'ready' ? { ...report, status: 'failed' } : report),
  });
  const id = await completed();
  expect(await ended(id)).toMatchObject({ stream_status: 'failed', failure: { code: 'encode_failed' } });
  encoder.misbehave({});
  expectSuccess(await call(clocked.service, `POST /media/${id}/retry`, { headers: asUser('ann') }));
  expect(await ended(id)).toMatchObject({ stream_status: 'ready' });
  expect((await orderOf(id))?.attempt).toBe(2);
});

describe('the response to a job', () => {
  test.each([
    [{ status: 422, body: '{"message":"H.265 is not supported"}' }, 'H.265 is not supported'],
    [{ status: 404 }, 'status 404'],
    [{ status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 'redirects'],
  ])('%j fails the video with a visible reason', async (response, reason) => {
    encoder.misbehave({ response });
    const failed = await ended(await completed());
    expect(failed.failure).toMatchObject({ code: 'encoder_refused', retryable: true });
    expect(failed.failure?.message).toContain(reason);
  });

  test('5xx is retried; the timeline says so once', async () => {
    encoder.misbehave({ response: { status: 503 } });
    const before = encoder.requests();
    const id = await completed();
    await eventually(
      async () => encoder.requests() - before,
      (count) => count >= 2,
    );
    expect((await timeline(id)).filter((message) => message.includes('could not be reached'))).toHaveLength(
      1,
    );
    encoder.misbehave({});
    expect(await ended(id)).toMatchObject({ stream_status: 'ready' });
  });
});

describe('a silent encoder', () => {
  test('is asked again, and its late result counts', async () => {
    encoder.misbehave({ isSilent: true });
    const id = await completed();
    await untilTold(id, 'accepted the video');
    const before = encoder.requests();
    await clocked.runAfter(9, 'reconcile');
    expect(encoder.requests()).toBe(before);
    await clocked.runAfter(2, 'reconcile');
    await untilTold(id, 'stopped reporting');
    await eventually(
      async () => encoder.requests(),
      (count) => count > before,
    );
    await report(id, { status: 'ready', playback: { hls: 'https://video.example/1.m3u8' } });
    expect(await read(id)).toMatchObject({
      stream_status: 'ready',
      playback: { hls: 'https://video.example/1.m3u8' },
    });
  });

  test('fails the video after three requests; a report counts as a sign of life', async () => {
    encoder.misbehave({ isSilent: true });
    const id = await completed();
    await untilTold(id, 'accepted the video');
    await clocked.runAfter(9, 'reconcile');
    await report(id, { status: 'processing', progress: 10 });
    await clocked.runAfter(9, 'reconcile');
    expect(await timeline(id)).not.toContainEqual(expect.stringContaining('stopped reporting'));
    const accepted = async () =>
      (await timeline(id)).filter((message) => message.includes('accepted the video')).length;
    for (let requests = 2; requests <= 3; requests++) {
      await clocked.runAfter(11, 'reconcile');
      await eventually(accepted, (count) => count === requests);
    }
    await clocked.runAfter(11, 'reconcile');
    expect(await read(id)).toMatchObject({
      stream_status: 'failed',
      failure: { code: 'encoder_silent', retryable: true },
    });
  });
});

test.each(['cancel', 'delete'] as const)('%s ends the job at the encoder', async (how) => {
  encoder.misbehave({ isSilent: true });
  const id = await completed();
  await untilTold(id, 'accepted the video');
  expectSuccess(
    how === 'cancel'
      ? await cancelEncode(id)
      : await call(clocked.service, `DELETE /media/${id}`, { headers: asUser('ann') }),
  );
  await eventually(
    async () => encoder.cancelled,
    (keys) => keys.includes(`${id}-1`),
  );
});

const cancelEncode = (id: string) =>
  call(clocked.service, `POST /admin/encodes/${id}/cancel`, { headers: asOperator });
const cancellationEnded = () =>
  eventually(
    () => clocked.service.adapters.jobs.hasOpenJob('cancel-encoder-job', {}),
    (isOpen) => !isOpen,
    { withinMs: 120_000 },
  );

test('a cancellation that is delivered late does not end the job of the next attempt', async () => {
  encoder.misbehave({ isSilent: true, cancelStatus: 503 });
  const id = await completed();
  await untilTold(id, 'accepted the video');
  const before = encoder.cancellations();
  expectSuccess(await cancelEncode(id));
  await eventually(
    async () => encoder.cancellations(),
    (count) => count > before,
  );
  expectSuccess(await call(clocked.service, `POST /media/${id}/retry`, { headers: asUser('ann') }));
  await eventually(
    async () => (await timeline(id)).filter((message) => message.includes('accepted the video')),
    ({ length }) => length === 2,
  );
  encoder.misbehave({ isSilent: true });
  await cancellationEnded();
  expect(encoder.cancelled).not.toContain(`${id}-2`);
  expectSuccess(await cancelEncode(id));
  await eventually(
    async () => encoder.cancelled,
    (keys) => keys.includes(`${id}-2`),
  );
});

test('a cancellation while the encoder is asked ends the job once it is accepted', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  encoder.misbehave({ isSilent: true, respondAfter: promise });
  const id = await completed();
  await orderOf(id);
  expectSuccess(await cancelEncode(id));
  await cancellationEnded();
  resolve();
  await eventually(
    async () => encoder.cancelled,
    (keys) => keys.includes(`${id}-1`),
  );
});

const report = async (id: string, fields: object) => {
  const body = { asset_id: id, attempt: 1, ...fields };
  return call(clocked.service, 'POST /webhooks/stream/onprem', {
    json: body,
    headers: signatureOf('onprem', body),
  });
};
