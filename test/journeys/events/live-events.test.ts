// Clients follow assets live: event streams that resume, and long polls.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEvents, type StreamedEvent } from '../../support/service/event-streams.ts';
import { openUpload } from '../../support/media.ts';
import {
  asService,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { rows } from '../../support/service/traces.ts';
import { tell } from '../../support/providers/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ EVENT_STREAMS_PER_USER: '3', MEDIARY_ROLE: 'api' });
});
afterAll(() => service?.stop());

const typesOf = (events: readonly StreamedEvent[]): string[] => events.map(({ event }) => event);
const patch = (user: string, id: string, json: object) =>
  call(service, `PATCH /media/${id}`, { headers: asUser(user), json });
const follow = (path: string, headers: Record<string, string>) =>
  readEvents(`${service.url}${path}`, headers);
const has = (type: string) => (events: readonly StreamedEvent[]) => typesOf(events).includes(type);

describe('an event stream', () => {
  test("sends an owner's events in order, each with the asset", async () => {
    const stream = await follow('/events', asUser('ann'));
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const { asset_id: id } = await openUpload(service, 'ann');
    await openUpload(service, 'bob');
    await patch('ann', id, { title: 'One' });
    await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
    await stream.until(has('asset.deleted'));
    stream.close();
    expect(typesOf(stream.events)).toEqual(['asset.created', 'asset.updated', 'asset.deleted']);
    for (const { id: position, event, data } of stream.events) {
      expect(data).toMatchObject({ type: event, asset_id: id, owner_user_id: 'ann', asset: { id } });
      expect(position).toContain(data.id);
    }
  });

  test('resumes after the last event without gap or repeat', async () => {
    const { asset_id: id } = await openUpload(service, 'cleo');
    const first = await follow(`/media/${id}/events`, asUser('cleo'));
    await patch('cleo', id, { title: '1' });
    // A stream may begin with the event of the creation, which was just written.
    await first.until((events) => events.at(-1)?.event === 'asset.updated');
    first.close();
    for (const title of ['2', '3', '4']) await patch('cleo', id, { title });
    const last = first.lastId() ?? '';
    const second = await follow(`/media/${id}/events`, { ...asUser('cleo'), 'last-event-id': last });
    await patch('cleo', id, { title: '5' });
    await second.until((events) => events.length === 4);
    second.close();
    const inQuery = await follow(`/media/${id}/events?last_event_id=${last}`, asUser('cleo'));
    await inQuery.until((events) => events.length === 4);
    inQuery.close();
    expect(inQuery.events.map((event) => event.id)).toEqual(second.events.map((event) => event.id));
  });

  test('resumes past more checks than fit into one read', async () => {
    const { asset_id: id } = await openUpload(service, 'fay');
    await rows(
      service.dataDir,
      `insert into events (id, asset_id, owner_user_id, type, data, created_at, revision)
       select gen_random_uuid(), $1, 'fay', 'asset.checked', '{}', now(), 1 from generate_series(1, 60)`,
      [id],
    );
    await patch('fay', id, { title: 'New' });
    const stored = await follow('/events?last_event_id=beginning', asUser('fay'));
    await stored.until(has('asset.updated'));
    stored.close();
    expect(typesOf(stored.events)).toEqual(['asset.created', 'asset.updated']);
    const resumed = await follow('/events', {
      ...asUser('fay'),
      'last-event-id': stored.events[0]?.id ?? '',
    });
    await resumed.until(has('asset.updated'));
    resumed.close();
    expect(typesOf(resumed.events)).toEqual(['asset.updated']);
  });

  test('gives a position before the first event', async () => {
    const stream = await follow('/events', asUser('dora'));
    const position = await new Promise<string>((resolve) => {
      const timer = setInterval(() => {
        const id = stream.lastId();
        if (id !== undefined) resolve(id);
        if (id !== undefined) clearInterval(timer);
      }, 10);
    });
    stream.close();
    await openUpload(service, 'dora');
    const resumed = await follow('/events', { ...asUser('dora'), 'last-event-id': position });
    await resumed.until((events) => events.length === 1);
    resumed.close();
  });

  test('sends a service all events, or those of the owner that it names', async () => {
    const [all, bob] = await Promise.all([
      follow('/events', asService),
      follow('/events?owner_user_id=bob', asService),
    ]);
    const { asset_id: first } = await openUpload(service, 'ann');
    const { asset_id: second } = await openUpload(service, 'bob');
    await all.until((events) => events.length === 2);
    await bob.until((events) => events.length === 1);
    expect(all.events.map(({ data }) => data.asset_id)).toEqual([first, second]);
    expect(bob.events.map(({ data }) => data.asset_id)).toEqual([second]);
    for (const stream of [all, bob]) stream.close();
  });

  test('is refused with the envelope', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    const of = async (path: string, headers: Record<string, string>) => {
      const { status, body } = await call(service, `GET ${path}`, { headers });
      return [status, body.error.error_code, body.error.details?.['reason']];
    };
    expect(await of('/events', {})).toEqual([401, 'UNAUTHORIZED', 'missing']);
    expect(await of(`/media/${id}/events`, asUser('bob'))).toEqual([403, 'FORBIDDEN', undefined]);
    for (const position of ['x', '1-x', '9007199254740991-019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e'])
      expect(await of(`/events?last_event_id=${position}`, asUser('ann'))).toEqual([
        400,
        'BAD_REQUEST',
        'invalid_cursor',
      ]);
    const streams = await Promise.all([1, 2, 3].map(() => follow('/events', asUser('eve'))));
    expect(await of('/events', asUser('eve'))).toEqual([429, 'RATE_LIMITED', 'too_many_streams']);
    for (const stream of streams) stream.close();
  });
});

describe('a long poll', () => {
  const poll = (id: string, etag: string, seconds: number) =>
    fetch(`${service.url}/media/${id}?wait=${seconds}`, {
      headers: { ...asUser('ann'), 'if-none-match': etag },
    });

  test('responds as soon as the asset changes', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    const { headers } = await call(service, `GET /media/${id}`, { headers: asUser('ann') });
    const etag = headers.get('etag') ?? '';
    const waiting = poll(id, etag, 60);
    await patch('ann', id, { title: 'New' });
    const response = await waiting;
    expect(response.status).toBe(200);
    expect(((await response.json()) as { data: { title: string } }).data.title).toBe('New');
    expect(response.headers.get('etag')).not.toBe(etag);
  });

  test('is 304 where nothing changes, and 404 where the asset is deleted', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    const { headers } = await call(service, `GET /media/${id}`, { headers: asUser('ann') });
    const etag = headers.get('etag') ?? '';
    const started = performance.now();
    expect((await poll(id, etag, 1)).status).toBe(304);
    expect(performance.now() - started).toBeGreaterThan(900);
    const waiting = poll(id, etag, 60);
    await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
    expect((await waiting).status).toBe(404);
  });

  test('of a client that leaves at once does not count as open', async () => {
    const headers = asUser('gil');
    const { asset_id: id } = await openUpload(service, 'gil');
    const etag = (await call(service, `GET /media/${id}`, { headers })).headers.get('etag') ?? '';
    const lines = Object.entries({ ...headers, host: 'test', 'if-none-match': etag });
    const sendAndLeave = async () => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1').resume();
      socket.end(
        [
          `GET /api/v1/media/${id}?wait=60 HTTP/1.1`,
          ...lines.map(([name, value]) => `${name}: ${value}`),
          '\r\n',
        ].join('\r\n'),
      );
      await once(socket, 'close');
    };
    await Promise.all([sendAndLeave(), sendAndLeave(), sendAndLeave()]);
    await call(service, `GET /media/${id}`, { headers });
    const ask = async () => {
      const stream = await follow(`/media/${id}/events`, headers);
      stream.close();
      return stream.status;
    };
    expect(await eventually(ask, (status) => status !== 429, { withinMs: 20_000 })).toBe(200);
  });

  test('names the limits of `wait`', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    for (const wait of ['0', '61', 'x']) {
      const { status, body } = await call(service, `GET /media/${id}?wait=${wait}`, {
        headers: asUser('ann'),
      });
      expect([status, body.error.details?.['field']]).toEqual([400, 'wait']);
    }
  });

  test('tells of progress that has no event of its own', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    for (const progress of [5, 6]) {
      const { headers } = await call(service, `GET /media/${id}`, { headers: asUser('ann') });
      const waiting = poll(id, headers.get('etag') ?? '', 60);
      await tell(service, 'onprem', { asset_id: id, status: 'processing', progress });
      const { data } = (await (await waiting).json()) as { data: { progress: number } };
      expect(data.progress).toBe(progress);
    }
  });
});

test('a stop ends streams and long polls, so that clients resume at another process', async () => {
  const other = await startTestService({ MEDIARY_ROLE: 'api' });
  const { asset_id: id } = await openUpload(other, 'ann');
  const { headers } = await call(other, `GET /media/${id}`, { headers: asUser('ann') });
  const stream = await readEvents(`${other.url}/events`, asUser('ann'));
  const poll = fetch(`${other.url}/media/${id}?wait=60`, {
    headers: { ...asUser('ann'), 'if-none-match': headers.get('etag') ?? '' },
  });
  await tell(other, 'onprem', { asset_id: id, status: 'processing', progress: 5 });
  expect((await poll).status).toBe(200);
  const started = performance.now();
  await Promise.all([other.stop(), stream.ended]);
  expect(performance.now() - started).toBeLessThan(20_000);
});
