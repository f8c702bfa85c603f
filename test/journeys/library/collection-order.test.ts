// The order of a collection is what its owner chose, also with many moves at the same time.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addItems,
  createCollection,
  moveItem,
  openAssets,
  type OwnCollection,
  readOrder,
  readPage,
  removeItem,
} from '../../support/assets/collections.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const COUNT = 8;

let service: TestService;
let ids: string[];
beforeAll(async () => {
  service = await startTestService();
  ids = await openAssets(service, 'ann', COUNT);
});
afterAll(() => service?.stop());

async function newCollection(): Promise<OwnCollection> {
  const { id } = await createCollection(service, 'ann');
  return { service, user: 'ann', id };
}

/** Numbers name assets. */
type Move = { readonly moved: number; readonly side: 'start' | 'end' | 'before' | 'after'; anchor: number };

const move: fc.Arbitrary<Move> = fc
  .record({
    moved: fc.nat({ max: COUNT - 1 }),
    side: fc.constantFrom('start', 'end', 'before', 'after'),
    anchor: fc.nat({ max: COUNT - 1 }),
  })
  .filter(({ moved, anchor }) => moved !== anchor);

const toPlace = ({ side, anchor }: Move): object =>
  side === 'start' || side === 'end' ? { position: side } : { [side]: ids[anchor] };

function applyMove(order: readonly string[], { moved, side, anchor }: Move): string[] {
  const id = ids[moved] ?? '';
  const rest = order.filter((each) => each !== id);
  const at = rest.indexOf(ids[anchor] ?? '');
  const index = { start: 0, end: rest.length, before: at, after: at + 1 }[side];
  return rest.toSpliced(index, 0, id);
}

test('moves one after the other give the order of a list', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 12 }), async (moves) => {
      const collection = await newCollection();
      expectSuccess(await addItems(collection, ids));
      for (const each of moves)
        expectSuccess(await moveItem(collection, ids[each.moved] ?? '', toPlace(each)));
      expect(await readOrder(collection)).toEqual(moves.reduce(applyMove, ids));
    }),
    { numRuns: 15 },
  );
});

test('moves, additions and removals at the same time lose nothing and repeat nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 10, maxLength: 25 }), async (moves) => {
      const collection = await newCollection();
      const [first = '', ...others] = ids;
      expectSuccess(await addItems(collection, others));
      const answers = await Promise.all([
        ...moves
          .filter(({ moved, anchor }) => moved !== 0 && anchor !== 0)
          .map((each) => moveItem(collection, ids[each.moved] ?? '', toPlace(each))),
        addItems(collection, [first], { before: ids[3] }),
        addItems(collection, [first, ...others], { position: 'start' }),
      ]);
      for (const answer of answers) expectSuccess(answer);
      expect((await readOrder(collection, 3)).toSorted()).toEqual(ids.toSorted());
    }),
    { numRuns: 10 },
  );
});

test('the last of moves beside a fixed asset decides, whatever the gap between them', async () => {
  const collection = await newCollection();
  const [a = '', b = '', c = ''] = ids;
  expectSuccess(await addItems(collection, [a, b, c]));
  let cursor: string | null = null;
  for (let turn = 0; turn < 60; turn += 1) {
    const moved = turn % 2 === 0 ? c : b;
    expectSuccess(await moveItem(collection, moved, { after: a }));
    cursor ??= (await readPage(collection, 'limit=1')).next_cursor;
  }
  expect(await readOrder(collection)).toEqual([a, b, c]);
  // The positions were written again since, and the page still follows `a`.
  const next = await readPage(collection, `cursor=${cursor}`);
  expect(next.items.map(({ asset }) => asset.id)).toEqual([b, c]);
});

test('an asset that many requests add at the same time is added by one of them', async () => {
  const collection = await newCollection();
  const answers = await Promise.all(ids.map((id) => addItems(collection, [id, ...ids])));
  for (const answer of answers) expectSuccess(answer);
  const added = answers.flatMap(({ body }) => body.data.changed_asset_ids);
  expect(await readOrder(collection)).toEqual(added.slice(0, COUNT));
  expect(added.toSorted()).toEqual(ids.toSorted());
});

test('an asset is moved beside another one of the collection only', async () => {
  const collection = await newCollection();
  const [a = '', b = '', c = ''] = ids;
  expectSuccess(await addItems(collection, [a, b]));
  expectRefusal(await moveItem(collection, c, { position: 'start' }), 404);
  expectRefusal(await moveItem(collection, 'no-uuid', { position: 'start' }), 404);
  expectFieldRefused(await moveItem(collection, a, { after: a }), 'after');
  expect(expectRefusal(await moveItem(collection, a, { before: c }), 409).details).toMatchObject({
    field: 'before',
    reason: 'not_in_collection',
  });
  expectSuccess(await removeItem(collection, b));
  expectRefusal(await moveItem(collection, a, { after: b }), 409);
  expect(await readOrder(collection)).toEqual([a]);
});
