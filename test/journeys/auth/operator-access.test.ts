// Only operators may use the deliveries and the provider overview.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, test } from 'vitest';
import { expectRefusal } from '../../support/http/envelope.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service?.stop());

test.each([
  ['a caller without credentials', {}],
  ['a user', asUser('ann')],
  ['the service key', asService],
  ["the service key in the operator's place", { 'x-operator-key': asService['x-service-key'] }],
  ['an empty key', { 'x-operator-key': '' }],
])('%s may neither list, read nor replay deliveries', async (_, headers) => {
  for (const request of [
    'GET /admin/deliveries',
    `GET /admin/deliveries/${randomUUID()}`,
    'GET /admin/providers',
  ]) {
    expectRefusal(await call(service, request, { headers }), 401);
  }
  expectRefusal(
    await call(service, 'POST /admin/deliveries/replay', {
      headers,
      json: { id: randomUUID(), dry_run: false },
    }),
    401,
  );
});
