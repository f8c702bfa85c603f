// Event tickets: event streams by their URL alone, for EventSource of browsers (contract B8).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { readEvents } from '../../support/service/event-streams.ts';
import { openUpload } from '../../support/media.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
  tokenOf,
} from '../../support/service.ts';

let service: TestService;
let clockOffsetMs = 0;
beforeAll(async () => {
  service = await startTestService(
    { MEDIARY_ROLE: 'api' },
    { now: () => new Date(Date.now() + clockOffsetMs) },
  );
});
afterAll(() => service?.stop());

type Ticket = { readonly ticket: string; readonly expires_at: string; readonly url: string };
const createTicket = async (headers: Record<string, string>, json: object = {}): Promise<Ticket> =>
  expectSuccess(await call(service, 'POST /events/ticket', { headers, json })) as Ticket;
const refusal = async (path: string, status: number, headers = {}) =>
  expectRefusal(await call(service, `GET ${path}`, { headers }), status).details;
const withClock = async (seconds: number, work: () => Promise<void>): Promise<void> => {
  clockOffsetMs = seconds * 1000;
  await work().finally(() => {
    clockOffsetMs = 0;
  });
};

test('an event ticket opens the streams of its owner by the URL alone, more than once', async () => {
  const { url, ticket } = await createTicket(asUser('fay'));
  expect(url).toBe(`${service.url}/events?ticket=${ticket}`);
  const { asset_id: id } = await openUpload(service, 'fay');
  const streams = await Promise.all([
    readEvents(url, {}),
    readEvents(`${service.url}/media/${id}/events?ticket=${ticket}`, {}),
  ]);
  await openUpload(service, 'ann');
  await call(service, `PATCH /media/${id}`, { headers: asUser('fay'), json: { title: 'One' } });
  for (const stream of streams) {
    await stream.until((events) => events.some(({ event }) => event === 'asset.updated'));
    stream.close();
    expect(stream.events.map(({ data }) => data.owner_user_id)).toEqual(['fay']);
  }
  const { asset_id: other } = await openUpload(service, 'ann');
  expect(await refusal(`/media/${other}/events?ticket=${ticket}`, 403)).toBeNull();
});

test('an event ticket of a service key needs an owner, and ends with a named key', async () => {
  const without = await call(service, 'POST /events/ticket', { headers: asService, json: {} });
  expect(expectRefusal(without, 400).details).toMatchObject({ field: 'owner_user_id' });
  const key = expectSuccess(
    await call(service, 'POST /admin/service-keys', {
      headers: asOperator,
      json: { name: 'events', scopes: ['read'], owner_prefixes: ['g'] },
    }),
  ) as { id: string; key: string };
  const { url, ticket } = await createTicket({ 'x-service-key': key.key }, { owner_user_id: 'gus' });
  const { status, close } = await readEvents(url, {});
  close();
  expect(status).toBe(200);
  await call(service, `DELETE /admin/service-keys/${key.id}`, { headers: asOperator });
  expect(await refusal(`/events?ticket=${ticket}`, 401)).toMatchObject({ reason: 'expired' });
});

test('an event ticket expires after 60 s, or with the access token that created it', async () => {
  const { ticket, expires_at: end } = await createTicket(asUser('hal'));
  expect(Date.parse(end) - Date.now()).toBeLessThanOrEqual(60_000);
  const ending = { exp: Math.floor(Date.now() / 1000) + 15 };
  const short = await createTicket({ authorization: `Bearer ${tokenOf('hal', ending)}` });
  expect(Date.parse(short.expires_at)).toBe((ending.exp + 5) * 1000);
  await withClock(30, async () => {
    expect(await refusal(`/events?ticket=${short.ticket}`, 401)).toMatchObject({ reason: 'expired' });
    (await readEvents(`${service.url}/events?ticket=${ticket}`, {})).close();
  });
  await withClock(61, async () => {
    expect(await refusal(`/events?ticket=${ticket}`, 401)).toEqual({ reason: 'expired', field: 'ticket' });
  });
});

test('an event ticket opens nothing but event streams, and no credentials go with it', async () => {
  const { ticket } = await createTicket(asUser('ida'));
  const upload = expectSuccess(
    await call(service, 'POST /upload-tokens', { headers: asService, json: { owner_user_id: 'ida' } }),
  ) as { token: string };
  const byUpload = { headers: { authorization: `Bearer ${upload.token}` }, json: {} };
  expectRefusal(await call(service, 'POST /events/ticket', byUpload), 403);
  expect(await refusal(`/media?ticket=${ticket}`, 401)).toMatchObject({ reason: 'missing' });
  expect(await refusal('/media', 401, { authorization: `Bearer ${ticket}` })).toMatchObject({
    reason: 'malformed',
  });
  expect(await refusal(`/events?ticket=${ticket}x`, 401)).toMatchObject({ reason: 'invalid_credential' });
  expect(await refusal(`/events?ticket=${ticket}`, 401, asUser('ida'))).toMatchObject({
    reason: 'multiple_credentials',
  });
});
