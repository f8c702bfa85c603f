// Archives that say something else than the service can store: it refuses their assets, or the whole.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, offer, settled } from '../../support/media.ts';
import { type ArchiveEntry, archiveOf, importTo, sealed } from '../../support/service/archives.ts';
import { asUser, call } from '../../support/service.ts';
import {
  type ArchivedOwner,
  IMPORTED as imported,
  OWNER,
  refusedBy as refused,
  startArchivedOwner,
} from '../../support/service/archived-owner.ts';

let owner: ArchivedOwner;
beforeAll(async () => {
  owner = await startArchivedOwner();
});
beforeEach(() => owner.erase(), 60_000);
afterAll(() => owner?.service.stop());

test("another owner's id is refused, and that asset does not change", async () => {
  const { id: theirs } = await offer(owner.service, 'ben', { bytes: await makeSmallPng(), fields: IMAGE });
  const before = await settled(owner.service, 'ben', theirs);
  const files = await owner.filesOf(theirs);
  const renamed = owner.entries.map((entry) => ({
    ...entry,
    name: entry.name.replace(owner.image, theirs),
    bytes: entry.name.endsWith('/original')
      ? entry.bytes
      : Buffer.from(entry.bytes.toString().replaceAll(owner.image, theirs)),
  }));
  expect((await owner.importing(sealed(renamed))).items).toMatchObject([
    { asset_id: theirs, ...refused('asset_id_taken') },
    { asset_id: owner.video, ...imported },
  ]);
  expect(await settled(owner.service, 'ben', theirs)).toEqual(before);
  expect(await owner.filesOf(theirs)).toEqual(files);
});

test('the same id with another original is refused, and so is one that was deleted for good', async () => {
  const bytes = await makeSmallPng();
  await owner.importing(owner.entries);
  const other = owner.changing(`assets/${owner.image}/original`, () =>
    Buffer.concat([bytes, Buffer.alloc(9)]),
  );
  expect((await owner.importing(sealed(other))).items).toMatchObject([
    { asset_id: owner.image, ...refused('asset_differs') },
    { asset_id: owner.video, result: 'already_there' },
  ]);
  expectSuccess(await call(owner.service, `DELETE /media/${owner.image}`, { headers: asUser(OWNER) }));
  expect((await owner.importing(owner.entries)).items[0]).toMatchObject(refused('asset_deleted'));
});

test('an original above MAX_UPLOAD_BYTES is refused, and the next asset is not', async () => {
  const large = owner.changing(`assets/${owner.image}/original`, () => Buffer.alloc(4 * 1024 * 1024 + 1));
  expect((await owner.importing(sealed(large))).items).toMatchObject([
    { asset_id: owner.image, ...refused('size_above_limit') },
    { asset_id: owner.video, ...imported },
  ]);
});

test('files of the wrong form refuse their asset with a sentence that names the member', async () => {
  const cases: readonly (readonly [entries: ArchiveEntry[], code: string, message: RegExp])[] = [
    [owner.describing(owner.image, { mime_type: 'image/svg+xml' }), 'unsupported_value', /mime_type/],
    [owner.describing(owner.image, { mime_type: 'image/jpeg' }), 'type_mismatch', /bytes/],
    [owner.describing(owner.image, { title: 'x'.repeat(501) }), 'above_maximum', /title/],
    [owner.describing(owner.image, { metadata: { a: 'x'.repeat(17_000) } }), 'bad_request', /metadata/],
    [owner.describing(owner.image, { visibility: 'everybody' }), 'unsupported_value', /visibility/],
    [
      owner.describing(owner.image, { expires_at: '2020-01-01T00:00:00.000Z' }),
      'below_minimum',
      /expires_at/,
    ],
    [owner.describing(owner.image, { owner_user_id: 'eve' }), 'archive_other_owner', /another owner/],
    [owner.describing(owner.image, { id: owner.video }), 'asset_invalid', /another id/],
    [
      owner.describing(owner.image, { created_at: '2020-01-01T00:00:00.000Z' }),
      'asset_invalid',
      /created_at/,
    ],
    [owner.describing(owner.image, { original: null }), 'no_original', /original/],
    [owner.describing(owner.image, { attempt: 2 ** 31 }), 'above_maximum', /attempt/],
    [owner.describing(owner.image, { captions: [{ language: 'en' }] }), 'required', /captions/],
    [owner.without(`assets/${owner.image}/original`), 'asset_invalid', /original/],
    [owner.without(`assets/${owner.image}/asset.json`), 'asset_invalid', /asset\.json/],
    [
      sealed(owner.changing(`assets/${owner.image}/asset.json`, () => Buffer.from('{'))),
      'asset_invalid',
      /JSON/,
    ],
    [
      sealed(owner.changing(`assets/${owner.image}/events-1.ndjson`, () => Buffer.from('{}\n'))),
      'required',
      /id/,
    ],
    [
      sealed(owner.changing(`assets/${owner.image}/asset.json`, () => Buffer.alloc(2 ** 21))),
      'size_above_limit',
      /asset\.json/,
    ],
  ];
  for (const [changed, code, message] of cases) {
    const [item] = (await owner.importing(changed)).items;
    expect(item, `${message}`).toMatchObject({ ...refused(code), message: expect.stringMatching(message) });
  }
  expect(await owner.filesOf(owner.image)).toEqual([]);
});

test('a body that is no archive of the owner is refused as a whole', async () => {
  const refusalOf = async (id: string, archive: Uint8Array) =>
    expectRefusal(await importTo(owner.service, id, archive), 400).details;
  const archive = await archiveOf(owner.entries);
  expect(await refusalOf('eve', archive)).toMatchObject({ reason: 'archive_other_owner' });
  expect(await refusalOf(OWNER, Buffer.from('hello'))).toMatchObject({ reason: 'archive_truncated' });
  expect(await refusalOf(OWNER, Buffer.alloc(0))).toMatchObject({ reason: 'archive_truncated' });
  expect(await refusalOf(OWNER, Buffer.alloc(8192, 'x'))).toMatchObject({ reason: 'archive_invalid' });
  expect(await refusalOf(OWNER, await archiveOf(owner.entries.slice(1)))).toMatchObject({
    reason: 'archive_invalid',
  });
  expect(await owner.filesOf(owner.image)).toEqual([]);
});
