// Which deliveries are recorded, with which headers and result (contract B6).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openUpload, readAsset } from '../support/media.ts';
import { SECRETS, startTestService, type TestService } from '../support/service.ts';
import { deliver, deliveriesOf, LIBRARY, signatureOf, tell } from '../support/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY) });
}, 120_000);
afterAll(() => service?.stop());

const PLAYBACK = { hls: 'https://v.example/1.m3u8', dash: null, thumbnail: null };
const newVideo = async () => {
  const { asset_id: id } = await openUpload(service, 'ann', { visibility: 'public' });
  return {
    id,
    read: () => readAsset(service, 'ann', id),
    say: (status: string, more: object = {}) => tell(service, 'onprem', { asset_id: id, status, ...more }),
    ready: (more: object = {}) =>
      tell(service, 'onprem', { asset_id: id, status: 'ready', playback: PLAYBACK, ...more }),
    plays: async () =>
      (await fetch(`${service.url}/playback/${id}/hls.m3u8`, { redirect: 'manual' })).headers.get('location'),
  };
};

test('verified deliveries are recorded with bytes, headers without secrets, and result', async () => {
  const { id } = await newVideo();
  const bodies = [
    `{ "asset_id":"${id}", "status":"ready", "x":"\\u0000ü" }`,
    `{"status":"failed","asset_id":"${id.toUpperCase()}"}`,
  ].map((text) => Buffer.from(text));
  const planted = {
    authorization: `Bearer ${SECRETS.OPERATOR_KEY}`,
    'x-service-key': SECRETS.SERVICE_API_KEY,
    cookie: 'a=planted',
    'user-agent': 'an encoder',
    'x-request-id': 'request-1',
  };
  for (const body of bodies) {
    await deliver(service, 'onprem', { body, headers: { ...planted, ...signatureOf('onprem', body) } });
    expect(
      (
        await deliver(service, 'onprem', {
          body,
          headers: { ...planted, ...signatureOf('onprem', body, { secret: 'wrong' }) },
        })
      ).status,
    ).toBe(401);
  }
  const kept = await deliveriesOf(service, id);
  expect(
    kept.map(({ processed, reason, body, provider }) => ({
      processed,
      reason,
      body: body.toString(),
      provider,
    })),
  ).toEqual([
    { processed: true, reason: 'applied', body: String(bodies[0]), provider: 'onprem' },
    { processed: false, reason: 'late', body: String(bodies[1]), provider: 'onprem' },
  ]);
  for (const [index, { headers }] of kept.entries()) {
    expect(headers).toMatchObject({
      'user-agent': 'an encoder',
      'x-request-id': 'request-1',
      'content-length': String(bodies[index]?.length),
    });
    for (const secret of [
      ...Object.values(SECRETS),
      'planted',
      ...Object.values(signatureOf('onprem', bodies[index] as Buffer)),
    ])
      expect(JSON.stringify(headers)).not.toContain(secret);
  }
});
