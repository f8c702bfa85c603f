// Collected JSON files as the body of every JSON endpoint: accepted or rejected, without side effects
// (contract A2, B2).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../support/http/envelope.ts';
import { type AssetJson, openUpload } from '../support/media.ts';
import {
  type Answer,
  asService,
  asUser,
  call,
  SECRETS,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { type Sample, samplesOf, TEST_DATA } from '../support/clips/test-data.ts';

const CONNECTIONS = 8;
const CORPORA = { 'json-parsing': 300, 'json-fuzz-small': 500 };
const ann = asUser('ann');
const ELSEWHERE = { ...ann, 'if-match': '"999"' };

const operator = { 'x-operator-key': SECRETS.OPERATOR_KEY };

type Entry = { readonly headers: Record<string, string>; readonly whenRead: readonly number[] };
/**
 * How a body that is read is answered, where not with 400 and one of its fields: so that nothing changes,
 * edits and removals are of a version that never was.
 */
const DOORS = {
  'POST /media/upload-url': { headers: ann, whenRead: [] },
  'POST /media/import': { headers: ann, whenRead: [] },
  'POST /media/batch': { headers: ann, whenRead: [] },
  'POST /media/{id}/clip': { headers: ann, whenRead: [] },
  'POST /media/{id}/replace': { headers: ann, whenRead: [409] },
  'POST /media/{id}/rollback': { headers: ann, whenRead: [409] },
  'POST /media/{id}/complete': { headers: ann, whenRead: [] },
  'POST /media/{id}/retry': { headers: ann, whenRead: [409] },
  'POST /media/{id}/restore': { headers: ann, whenRead: [200] },
  // The owner would change the time of the last update.
  'POST /media/{id}/revoke-playback': { headers: asUser('ben'), whenRead: [403] },
  'PUT /media/{id}/legal-hold': { headers: ann, whenRead: [403] },
  'DELETE /media/{id}/legal-hold': { headers: ann, whenRead: [403] },
  'PATCH /media/{id}': { headers: ELSEWHERE, whenRead: [412] },
  'DELETE /media/{id}': { headers: ELSEWHERE, whenRead: [412] },
  'POST /console/session': { headers: { 'x-mediary-console': '1' }, whenRead: [401] },
  'POST /events/ticket': { headers: ann, whenRead: [200] },
  'POST /uploads/{id}/s3-multipart': { headers: {}, whenRead: [404] },
  'POST /uploads/{id}/s3-multipart/{upload}/parts': { headers: {}, whenRead: [404] },
  'POST /uploads/{id}/s3-multipart/{upload}/complete': { headers: {}, whenRead: [404] },
  'POST /admin/adoptions': { headers: operator, whenRead: [] },
  'POST /admin/checks': { headers: operator, whenRead: [200, 409] },
  'POST /admin/deliveries/replay': { headers: operator, whenRead: [200, 404] },
  'PUT /admin/owners/{owner_user_id}/limits': { headers: operator, whenRead: [200] },
  'POST /upload-tokens': { headers: asService, whenRead: [] },
  'POST /collections': { headers: ann, whenRead: [] },
  'PATCH /collections/{id}': { headers: ann, whenRead: [404] },
  'POST /collections/{id}/items': { headers: ann, whenRead: [404] },
  'PATCH /collections/{id}/items/{asset_id}': { headers: ann, whenRead: [404] },
  'POST /webhook-endpoints': { headers: asService, whenRead: [] },
  'PATCH /webhook-endpoints/{id}': { headers: asService, whenRead: [404] },
  'POST /webhook-endpoints/{id}/resend': { headers: asService, whenRead: [404] },
  'POST /admin/service-keys': { headers: operator, whenRead: [] },
  'PATCH /admin/service-keys/{id}': { headers: operator, whenRead: [404] },
  'POST /admin/service-keys/{id}/rotate': { headers: operator, whenRead: [404] },
} as const satisfies Record<string, Entry>;
type Door = keyof typeof DOORS;

let service: TestService;
let id: string;
let ticket: string;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
  const started = await openUpload(service, 'ann', { title: 'As it was', metadata: { a: 1 } });
  id = started.asset_id;
  ticket = new URL(started.upload_url ?? '').searchParams.get('ticket') ?? '';
});
afterAll(() => service?.stop());

/** What the corpus itself says: `y_` has to be read, `n_` must not be; nothing at all counts as `{}`. */
function mayBe({ name, body }: Sample): ('read' | 'refused')[] {
  if (body.length === 0) return ['read'];
  if (name.startsWith('y_')) return [isObject(JSON.parse(Buffer.from(body).toString())) ? 'read' : 'refused'];
  return name.startsWith('n_') ? ['refused'] : ['read', 'refused'];
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The largest JSON body that is read, in bytes. */
const MAX_BODY = 128 * 1024;

/** Refused as a body, or read, whatever it then says. */
function whatBecameOf(answer: Answer, { whenRead }: Entry): 'read' | 'refused' {
  if (answer.status === 413) {
    expect(expectRefusal(answer, 413).details).toMatchObject({ limit: MAX_BODY });
    return 'refused';
  }
  if (!whenRead.includes(answer.status)) {
    const { details } = expectRefusal(answer, 400);
    if (details?.['reason'] === 'not_uploaded' || details?.['reason'] === 'unknown_member') return 'read';
    expect(details).toHaveProperty('field');
    return details?.['field'] === 'body' ? 'refused' : 'read';
  }
  if (answer.status === 200) expectSuccess(answer);
  else expectRefusal(answer, answer.status);
  return 'read';
}

const send = (door: Door, body: Uint8Array, headers: Record<string, string> = DOORS[door].headers) =>
  call(
    service,
    door
      .replace('{id}', id)
      .replace('{asset_id}', id)
      .replace('{upload}', id)
      .replace('{owner_user_id}', 'nobody'),
    {
      headers: { 'content-type': 'application/json', 'x-upload-ticket': ticket, ...headers },
      body,
    },
  );

async function inParallel(
  samples: readonly Sample[],
  work: (sample: Sample) => Promise<void>,
): Promise<void> {
  const waiting = samples.values();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (const sample of waiting) await work(sample);
    }),
  );
}

const listOf = async () =>
  (await call<{ items: AssetJson[] }>(service, 'GET /media', { headers: ann })).body.data.items;

test('covers every operation with a JSON body', async () => {
  const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { requestBody?: { content: object } }>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { requestBody }]) => requestBody && 'application/json' in requestBody.content)
      .map(([method]) => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
  );
  expect(
    operations.filter((operation) => !operation.includes('/webhooks/')).sort(),
    'say in DOORS how it answers a body that it can read',
  ).toEqual(Object.keys(DOORS).sort());
});

describe.skipIf(!TEST_DATA).each(Object.keys(DOORS) as Door[])('%s', (door) => {
  test.each(Object.entries(CORPORA))(
    'accepts or rejects every body of %s, and changes no asset',
    async (folder, atLeast) => {
      const before = await listOf();
      const samples = samplesOf(folder);
      expect(samples.length).toBeGreaterThan(atLeast);
      await inParallel(samples, async (sample) => {
        const answer = await send(door, sample.body);
        expect(mayBe(sample), `${sample.name}: ${JSON.stringify(answer.body)}`).toContain(
          whatBecameOf(answer, DOORS[door]),
        );
      });
      expect(await listOf()).toEqual(before);
    },
    300_000,
  );
});

test.skipIf(!TEST_DATA)('PATCH accepts known members only', async () => {
  const [before] = await listOf();
  let refused = 0;
  const expected = { title: before?.['title'], version: before?.['version'] as number };
  for (const { body } of samplesOf('json-parsing').filter((sample) => mayBe(sample).join() === 'read')) {
    const answer = await send('PATCH /media/{id}', body, ann);
    const said = body.length > 0 ? (JSON.parse(Buffer.from(body).toString()) as { title?: string }) : {};
    const unknown = Object.keys(said).filter((name) => name !== 'title');
    if (unknown.length > 0) {
      expect(expectRefusal(answer, 400).details).toMatchObject({
        reason: 'unknown_member',
        field: unknown[0],
      });
      refused++;
      continue;
    }
    const {
      status,
      body: { data },
    } = answer;
    Object.assign(expected, { version: expected.version + 1, ...('title' in said && { title: said.title }) });
    expect([status, data]).toEqual([200, { ...before, ...expected, updated_at: data['updated_at'] }]);
  }
  expect(refused).toBeGreaterThan(5);
});
