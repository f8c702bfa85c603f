// After random creates, edits, deletes and restores every page of every list matches a sorted array in memory
// (contract B3).
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  afterReport,
  foretellPage,
  type Moment,
  type Query,
  type Row,
  type Step,
  step,
} from '../support/assets/list-model.ts';
import { type AssetJson, type Started, VIDEO } from '../support/media.ts';
import { SEED } from '../support/service/seed.ts';
import {
  type Answer,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { tell } from '../support/providers/webhooks.ts';

const RUNS = 300;
const STEPS = 40;

type Page = {
  readonly items: readonly AssetJson[];
  readonly next_cursor: string | null;
  readonly total?: number;
};
/** A walk that was begun: the query, the row it stands behind, and the cursor that says so. */
type Walk = { readonly query: Query; readonly after: Row; readonly cursor: string };
type World = { readonly owner: string; readonly rows: Row[]; walk?: Walk | undefined };

let service: TestService;
let owners = 0;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service?.stop());

async function take(world: World, taken: Step): Promise<void> {
  if (taken.do === 'create') return create(world, taken);
  if (taken.do === 'ask')
    return ask(world, { ...taken.query, ...bounds(world, taken) }, { limit: taken.limit });
  if (taken.do === 'next')
    return world.walk && ask(world, world.walk.query, { limit: taken.limit, walk: world.walk });
  const row = world.rows[taken.at % world.rows.length];
  if (row) await change(world, row, taken);
}

async function create(
  { owner, rows }: World,
  { what, title, filename, tags }: Step & { do: 'create' },
): Promise<void> {
  const type =
    what === 'image' ? { content_type: 'image', mime_type: 'image/png' } : { ...VIDEO, provider: what };
  const link = what === 'cdnhost' ? { provider_video_id: `${owner} ${rows.length}` } : {};
  const json = { ...type, ...link, title, filename, tags, owner_user_id: owner };
  const { asset } = dataOf(
    await call<Started>(service, 'POST /media/upload-url?expand=asset', { headers: asService, json }),
  );
  rows.push({
    id: asset.id,
    kind: what === 'image' ? 'image' : 'video',
    provider: what === 'image' ? null : what,
    filename,
    title,
    tags,
    stream_status: 'pending_upload',
    place: 'list',
    created_at: asset['created_at'] as string,
  });
}

type Change = Exclude<Step, { do: 'create' | 'ask' | 'next' }>;

async function change({ owner }: World, row: Row, taken: Change): Promise<void> {
  const headers = asUser(owner);
  if (taken.do === 'remove') {
    const { status } = await call(service, `DELETE /media/${row.id}?purge=${taken.purge}`, { headers });
    expect(status).toBe(row.place === 'nowhere' ? 404 : 200);
    if (taken.purge) row.place = 'nowhere';
    else if (row.place === 'list') row.place = 'trash';
  } else if (taken.do === 'restore') {
    const { status } = await call(service, `POST /media/${row.id}/restore`, { headers });
    expect(status).toBe(row.place === 'nowhere' ? 404 : 200);
    if (row.place === 'trash') row.place = 'list';
  } else if (taken.do === 'edit') {
    const { status } = await call(service, `PATCH /media/${row.id}`, { headers, json: taken.edit });
    expect(status).toBe(row.place === 'list' ? 200 : 404);
    if (row.place === 'list') Object.assign(row, taken.edit);
  } else {
    await tell(service, 'onprem', { asset_id: row.id, status: taken.status });
    if (row.place === 'list' && row.provider === 'onprem')
      row.stream_status = afterReport(row.stream_status, taken.status);
  }
}

function bounds({ rows }: World, { from, to }: Step & { do: 'ask' }): Query {
  const at = (moment: Moment) =>
    new Date(
      Date.parse(rows[moment.at % rows.length]?.created_at ?? '2026-01-01') + moment.offsetMs,
    ).toISOString();
  return { ...(from && { created_after: at(from) }), ...(to && { created_before: at(to) }) };
}

async function ask(
  world: World,
  query: Query,
  { limit, walk }: { limit: number; walk?: Walk },
): Promise<void> {
  const said = new URLSearchParams({
    ...Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
    limit: String(limit),
  });
  if (walk) said.set('cursor', walk.cursor);
  const page = dataOf(await call<Page>(service, `GET /media?${said}`, { headers: asUser(world.owner) }));
  const { items, hasMore, total } = foretellPage(world.rows, query, { after: walk?.after, limit });
  expect(page.items.map(shown)).toEqual(items.map(shownRow));
  expect([page.next_cursor !== null, page.total]).toEqual([hasMore, total]);
  const after = items.at(-1);
  world.walk = page.next_cursor !== null && after ? { query, after, cursor: page.next_cursor } : undefined;
}

const shown = ({ id, kind, provider, filename, title, tags, stream_status, deleted_at }: AssetJson) => ({
  id,
  kind,
  provider,
  filename,
  title,
  tags,
  stream_status,
  inTrash: deleted_at !== null,
});
const shownRow = ({ place, created_at: _, ...row }: Row) => ({ ...row, inTrash: place === 'trash' });

function dataOf<T>({ status, body }: Answer<T>): T {
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

test(`lists equal the model after ${RUNS} random histories of up to ${STEPS} steps`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: STEPS, size: 'max' }),
      fc.integer({ min: 1, max: 9 }),
      async (steps, limit) => {
        const world: World = { owner: `owner ${SEED} ${++owners}`, rows: [] };
        for (const taken of steps) await take(world, taken);
        await ask(world, {}, { limit });
        while (world.walk) await ask(world, {}, { limit, walk: world.walk });
      },
    ),
    { numRuns: RUNS, seed: SEED },
  );
}, 600_000);
