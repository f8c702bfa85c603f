// Which deliveries are recorded, with which headers and result (contract B6).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SECRETS, startTestService, type TestService } from '../../support/service.ts';
import {
  deliver,
  deliveriesOf,
  LIBRARY,
  openReportedVideo,
  signatureOf,
} from '../../support/providers/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY) });
});
afterAll(() => service?.stop());

const newVideo = () => openReportedVideo(service);

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
  const records = await deliveriesOf(service, id);
  expect(
    records.map(({ processed, reason, body, provider }) => ({
      processed,
      reason,
      body: body.toString(),
      provider,
    })),
  ).toEqual([
    { processed: true, reason: 'applied', body: String(bodies[0]), provider: 'onprem' },
    { processed: false, reason: 'late', body: String(bodies[1]), provider: 'onprem' },
  ]);
  for (const [index, { headers }] of records.entries()) {
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
