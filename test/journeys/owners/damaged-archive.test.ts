// Archives that are damaged or were changed: whole assets are kept, and the report names all others.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, ingest, offer, settled } from '../../support/media.ts';
import {
  type ArchiveEntry,
  archiveOf,
  entriesOf,
  exportOf,
  type ImportJson,
  importTo,
  sealed,
  withMembers,
} from '../../support/service/archives.ts';
import { completed, erase } from '../../support/service/erasures.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';

const OWNER = 'dora';
const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n';

let service: TestService;
/** In the order of the archive: an image, and a video with captions. */
let image: string;
let video: string;
let entries: ArchiveEntry[];
beforeAll(async () => {
  service = await startTestService(
    { MAX_UPLOAD_BYTES: String(4 * 1024 * 1024), OWNER_IMPORT_MAX_ASSETS: '2' },
    { isStoreDirect: false },
  );
  const offered = await offer(service, OWNER, { bytes: await makeSmallPng(), fields: IMAGE });
  image = offered.id;
  await settled(service, OWNER, image);
  ({ id: video } = await ingest(service, OWNER, { file: await makeClip({ seconds: 1 }) }));
  const captions = { headers: { ...asUser(OWNER), 'content-type': 'text/vtt' }, body: VTT };
  expectSuccess(await call(service, `PUT /media/${video}/captions/en`, captions));
  entries = await entriesOf(await exportOf(service, OWNER));
}, 120_000);
beforeEach(async () => {
  await completed(service, OWNER, (await erase(service, OWNER)).id);
  expect([...(await filesOf(image)), ...(await filesOf(video))]).toEqual([]);
}, 60_000);
afterAll(() => service?.stop());

/** The names of all stored objects of an asset, also of those that no row names. */
async function filesOf(id: string): Promise<string[]> {
  const all = await readdir(join(service.dataDir, 'objects'), { recursive: true, withFileTypes: true });
  const paths = all.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  return paths.filter((path) => path.includes(id));
}

async function importing(changed: readonly ArchiveEntry[], owner = OWNER): Promise<ImportJson> {
  const answer = await importTo(service, owner, await archiveOf(changed));
  return expectSuccess(answer) as unknown as ImportJson;
}

const indexOf = (name: string): number => {
  const index = entries.findIndex((entry) => entry.name === name);
  expect(index, name).toBeGreaterThanOrEqual(0);
  return index;
};

/** The archive with other bytes in one file. */
const changing = (name: string, change: (bytes: Buffer) => Buffer): ArchiveEntry[] => {
  const index = indexOf(name);
  const entry = entries[index] as ArchiveEntry;
  return entries.with(index, { ...entry, bytes: change(entry.bytes) });
};
const describing = (id: string, members: object): ArchiveEntry[] =>
  sealed(changing(`assets/${id}/asset.json`, (bytes) => withMembers(bytes, members)));
const without = (name: string): ArchiveEntry[] => sealed(entries.toSpliced(indexOf(name), 1));

const imported = { result: 'imported', code: null };
const refused = (code: string) => ({ result: 'refused', code });

test('a truncated archive: what came whole is kept, and sending it whole goes on', async () => {
  const whole = await archiveOf(entries);
  const cut = whole.indexOf(`assets/${video}/original`) + 512 + 1000;
  const report = (await importTo(service, OWNER, whole.subarray(0, cut))).body.data;
  expect(report).toMatchObject({
    is_complete: false,
    problem: { code: 'archive_truncated' },
    items: [
      { asset_id: image, ...imported },
      { asset_id: video, ...refused('archive_truncated') },
    ],
  });
  await settled(service, OWNER, image);
  expect(await filesOf(video)).toEqual([]);
  const again = (await importTo(service, OWNER, whole)).body.data;
  expect(again).toMatchObject({
    is_complete: true,
    items: [
      { asset_id: image, result: 'already_there' },
      { asset_id: video, ...imported },
    ],
  });
  expect(await settled(service, OWNER, video)).toMatchObject({ stream_status: 'ready' });
}, 60_000);

test('an archive without its manifest is not complete', async () => {
  const report = await importing(entries.slice(0, -1));
  expect(report).toMatchObject({ is_complete: false, problem: { code: 'archive_truncated' } });
  expect(report.counts).toMatchObject({ imported: 2 });
});

test('a changed byte of an original, and one of captions: the asset is refused, the next one is not', async () => {
  const original = changing(`assets/${image}/original`, (bytes) =>
    Buffer.concat([bytes.subarray(1), Buffer.from('x')]),
  );
  expect(await importing(original)).toMatchObject({
    // The list of all files has another checksum, too.
    is_complete: false,
    problem: { code: 'archive_invalid' },
    items: [
      { asset_id: image, ...refused('checksum_mismatch') },
      { asset_id: video, ...imported },
    ],
  });
  const captions = changing(`assets/${video}/captions/en.vtt`, (bytes) =>
    Buffer.from(bytes.toString().replace('Hello', 'Jello')),
  );
  await completed(service, OWNER, (await erase(service, OWNER)).id);
  expect((await importing(captions)).items).toMatchObject([
    { asset_id: image, ...imported },
    { asset_id: video, ...refused('checksum_mismatch') },
  ]);
  expect(await filesOf(video)).toEqual([]);
}, 60_000);

const HOSTILE: readonly (readonly [what: string, entry: ArchiveEntry])[] = [
  ['a path out of the archive', { name: '../../etc/cron.d/evil', bytes: Buffer.from('x') }],
  ['an absolute path', { name: '/etc/passwd', bytes: Buffer.from('x') }],
  ['a path out of the folder of an asset', { name: 'assets/../../x', bytes: Buffer.from('x') }],
  ['a symbolic link', { name: 'assets/x', type: 'symlink', linkname: '/etc/passwd', bytes: Buffer.alloc(0) }],
  ['a hard link', { name: 'assets/x', type: 'link', linkname: '/etc/passwd', bytes: Buffer.alloc(0) }],
  ['a device', { name: 'assets/x', type: 'character-device', bytes: Buffer.alloc(0) }],
  ['a folder', { name: 'assets/', type: 'directory', bytes: Buffer.alloc(0) }],
  ['a name of 4000 bytes', { name: `assets/${'a/'.repeat(2000)}x`, bytes: Buffer.from('x') }],
];

test.each(HOSTILE)('%s ends the import', async (_what, entry) => {
  const place = indexOf(`assets/${video}/original`);
  const report = await importing(sealed(entries.toSpliced(place, 0, entry)));
  expect(report).toMatchObject({
    is_complete: false,
    problem: { code: 'archive_invalid', message: expect.stringMatching(/\.$/) },
    items: [{ asset_id: image, ...imported }],
  });
  await settled(service, OWNER, image);
});

test("another owner's id is refused, and that asset does not change", async () => {
  const { id: theirs } = await offer(service, 'ben', { bytes: await makeSmallPng(), fields: IMAGE });
  const before = await settled(service, 'ben', theirs);
  const files = await filesOf(theirs);
  const renamed = entries.map((entry) => ({
    ...entry,
    name: entry.name.replace(image, theirs),
    bytes: entry.name.endsWith('/original')
      ? entry.bytes
      : Buffer.from(entry.bytes.toString().replaceAll(image, theirs)),
  }));
  expect((await importing(sealed(renamed))).items).toMatchObject([
    { asset_id: theirs, ...refused('asset_id_taken') },
    { asset_id: video, ...imported },
  ]);
  expect(await settled(service, 'ben', theirs)).toEqual(before);
  expect(await filesOf(theirs)).toEqual(files);
}, 60_000);

test('the same id with another original is refused, and so is one that was deleted for good', async () => {
  const bytes = await makeSmallPng();
  await importing(entries);
  const other = changing(`assets/${image}/original`, () => Buffer.concat([bytes, Buffer.alloc(9)]));
  expect((await importing(sealed(other))).items).toMatchObject([
    { asset_id: image, ...refused('asset_differs') },
    { asset_id: video, result: 'already_there' },
  ]);
  expectSuccess(await call(service, `DELETE /media/${image}`, { headers: asUser(OWNER) }));
  expect((await importing(entries)).items[0]).toMatchObject(refused('asset_deleted'));
}, 60_000);

test('an original above MAX_UPLOAD_BYTES is refused, and the next asset is not', async () => {
  const large = changing(`assets/${image}/original`, () => Buffer.alloc(4 * 1024 * 1024 + 1));
  expect((await importing(sealed(large))).items).toMatchObject([
    { asset_id: image, ...refused('size_above_limit') },
    { asset_id: video, ...imported },
  ]);
}, 60_000);

test('files of the wrong form refuse their asset with a sentence that names the member', async () => {
  const cases: readonly (readonly [entries: ArchiveEntry[], code: string, message: RegExp])[] = [
    [describing(image, { mime_type: 'image/svg+xml' }), 'unsupported_value', /mime_type/],
    [describing(image, { mime_type: 'image/jpeg' }), 'type_mismatch', /bytes/],
    [describing(image, { title: 'x'.repeat(501) }), 'above_maximum', /title/],
    [describing(image, { metadata: { a: 'x'.repeat(17_000) } }), 'bad_request', /metadata/],
    [describing(image, { visibility: 'everybody' }), 'unsupported_value', /visibility/],
    [describing(image, { expires_at: '2020-01-01T00:00:00.000Z' }), 'below_minimum', /expires_at/],
    [describing(image, { owner_user_id: 'eve' }), 'archive_other_owner', /another owner/],
    [describing(image, { id: video }), 'asset_invalid', /another id/],
    [describing(image, { created_at: '2020-01-01T00:00:00.000Z' }), 'asset_invalid', /created_at/],
    [describing(image, { original: null }), 'no_original', /original/],
    [describing(image, { attempt: 2 ** 31 }), 'above_maximum', /attempt/],
    [describing(image, { captions: [{ language: 'en' }] }), 'required', /captions/],
    [without(`assets/${image}/original`), 'asset_invalid', /original/],
    [without(`assets/${image}/asset.json`), 'asset_invalid', /asset\.json/],
    [sealed(changing(`assets/${image}/asset.json`, () => Buffer.from('{'))), 'asset_invalid', /JSON/],
    [sealed(changing(`assets/${image}/events-1.ndjson`, () => Buffer.from('{}\n'))), 'required', /id/],
    [
      sealed(changing(`assets/${image}/asset.json`, () => Buffer.alloc(2 ** 21))),
      'size_above_limit',
      /asset\.json/,
    ],
  ];
  for (const [changed, code, message] of cases) {
    const [item] = (await importing(changed)).items;
    expect(item, `${message}`).toMatchObject({ ...refused(code), message: expect.stringMatching(message) });
  }
  expect(await filesOf(image)).toEqual([]);
}, 120_000);

test('a body that is no archive of the owner is refused as a whole', async () => {
  const refusalOf = async (owner: string, archive: Uint8Array) =>
    expectRefusal(await importTo(service, owner, archive), 400).details;
  const archive = await archiveOf(entries);
  expect(await refusalOf('eve', archive)).toMatchObject({ reason: 'archive_other_owner' });
  expect(await refusalOf(OWNER, Buffer.from('hello'))).toMatchObject({ reason: 'archive_truncated' });
  expect(await refusalOf(OWNER, Buffer.alloc(0))).toMatchObject({ reason: 'archive_truncated' });
  expect(await refusalOf(OWNER, Buffer.alloc(8192, 'x'))).toMatchObject({ reason: 'archive_invalid' });
  expect(await refusalOf(OWNER, await archiveOf(entries.slice(1)))).toMatchObject({
    reason: 'archive_invalid',
  });
  expect(await filesOf(image)).toEqual([]);
});

test('an archive with more assets than OWNER_IMPORT_MAX_ASSETS ends there', async () => {
  const { id } = await offer(service, 'three', { bytes: await makeSmallPng(), fields: IMAGE });
  await settled(service, 'three', id);
  const [about, ...files] = (await entriesOf(await exportOf(service, 'three'))) as [
    ArchiveEntry,
    ...ArchiveEntry[],
  ];
  const copies = ['1', '2', '3'].flatMap((digit) =>
    files.slice(0, -1).map((entry) => ({ ...entry, name: entry.name.replace(/.(?=\/[^/]+$)/, digit) })),
  );
  const report = await importing([about, ...sealed(copies), files.at(-1) as ArchiveEntry], 'three');
  expect(report).toMatchObject({ is_complete: false, problem: { code: 'archive_too_large' } });
  expect(report.items).toHaveLength(2);
});

test('a client that leaves ends its import, which holds nothing any more', async () => {
  const archive = await archiveOf(entries);
  const left = new AbortController();
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(archive.subarray(0, archive.indexOf(`assets/${video}/original`) + 700));
    },
  });
  const url = `${service.url}/admin/owners/${OWNER}/import`;
  const request = { method: 'POST', headers: asOperator, body, duplex: 'half', signal: left.signal };
  const sending = fetch(url, request as RequestInit).catch((error: Error) => error.name);
  await eventually(
    () => call(service, `GET /media/${image}`, { headers: asUser(OWNER) }),
    ({ status }) => status === 200,
  );
  left.abort();
  expect(await sending).toBe('AbortError');
  await eventually(
    () => importTo(service, OWNER, archive),
    ({ status }) => status === 200,
  );
  expect(await settled(service, OWNER, video)).toMatchObject({ stream_status: 'ready' });
}, 60_000);
