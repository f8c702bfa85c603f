// Archives that are damaged or cut: whole assets are kept, and the report names all others.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { IMAGE, offer, settled } from '../../support/media.ts';
import {
  type ArchiveEntry,
  archiveOf,
  entriesOf,
  exportOf,
  importTo,
  sealed,
} from '../../support/service/archives.ts';
import { asOperator, asUser, call, eventually } from '../../support/service.ts';
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

test('a truncated archive: what came whole is kept, and sending it whole goes on', async () => {
  const whole = await archiveOf(owner.entries);
  const cut = whole.indexOf(`assets/${owner.video}/original`) + 512 + 1000;
  const report = (await importTo(owner.service, OWNER, whole.subarray(0, cut))).body.data;
  expect(report).toMatchObject({
    is_complete: false,
    problem: { code: 'archive_truncated' },
    items: [
      { asset_id: owner.image, ...imported },
      { asset_id: owner.video, ...refused('archive_truncated') },
    ],
  });
  await settled(owner.service, OWNER, owner.image);
  expect(await owner.filesOf(owner.video)).toEqual([]);
  const again = (await importTo(owner.service, OWNER, whole)).body.data;
  expect(again).toMatchObject({
    is_complete: true,
    items: [
      { asset_id: owner.image, result: 'already_there' },
      { asset_id: owner.video, ...imported },
    ],
  });
  expect(await settled(owner.service, OWNER, owner.video)).toMatchObject({ stream_status: 'ready' });
});

test('an archive without its manifest is not complete', async () => {
  const report = await owner.importing(owner.entries.slice(0, -1));
  expect(report).toMatchObject({ is_complete: false, problem: { code: 'archive_truncated' } });
  expect(report.counts).toMatchObject({ imported_count: 2 });
});

test('a changed byte of an original or of captions refuses its asset, but not the next one', async () => {
  const original = owner.changing(`assets/${owner.image}/original`, (bytes) =>
    Buffer.concat([bytes.subarray(1), Buffer.from('x')]),
  );
  expect(await owner.importing(original)).toMatchObject({
    // The list of all files has another checksum, too.
    is_complete: false,
    problem: { code: 'archive_invalid' },
    items: [
      { asset_id: owner.image, ...refused('checksum_mismatch') },
      { asset_id: owner.video, ...imported },
    ],
  });
  const captions = owner.changing(`assets/${owner.video}/captions/en.vtt`, (bytes) =>
    Buffer.from(bytes.toString().replace('Hello', 'Jello')),
  );
  await owner.erase();
  expect((await owner.importing(captions)).items).toMatchObject([
    { asset_id: owner.image, ...imported },
    { asset_id: owner.video, ...refused('checksum_mismatch') },
  ]);
  expect(await owner.filesOf(owner.video)).toEqual([]);
});

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
  const place = owner.indexOf(`assets/${owner.video}/original`);
  const report = await owner.importing(sealed(owner.entries.toSpliced(place, 0, entry)));
  expect(report).toMatchObject({
    is_complete: false,
    problem: { code: 'archive_invalid', message: expect.stringMatching(/\.$/) },
    items: [{ asset_id: owner.image, ...imported }],
  });
  await settled(owner.service, OWNER, owner.image);
});

test('an archive with more assets than OWNER_IMPORT_MAX_ASSETS ends there', async () => {
  const { id } = await offer(owner.service, 'three', { bytes: await makeSmallPng(), fields: IMAGE });
  await settled(owner.service, 'three', id);
  const [about, ...files] = (await entriesOf(await exportOf(owner.service, 'three'))) as [
    ArchiveEntry,
    ...ArchiveEntry[],
  ];
  const copies = ['1', '2', '3'].flatMap((digit) =>
    files.slice(0, -1).map((entry) => ({ ...entry, name: entry.name.replace(/.(?=\/[^/]+$)/, digit) })),
  );
  const report = await owner.importing([about, ...sealed(copies), files.at(-1) as ArchiveEntry], 'three');
  expect(report).toMatchObject({ is_complete: false, problem: { code: 'archive_too_large' } });
  expect(report.items).toHaveLength(2);
});

test('a client that leaves ends its import, which holds nothing any more', async () => {
  const archive = await archiveOf(owner.entries);
  const left = new AbortController();
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(archive.subarray(0, archive.indexOf(`assets/${owner.video}/original`) + 700));
    },
  });
  const url = `${owner.service.url}/admin/owners/${OWNER}/import`;
  const request = { method: 'POST', headers: asOperator, body, duplex: 'half', signal: left.signal };
  const sending = fetch(url, request as RequestInit).catch((error: Error) => error.name);
  await eventually(
    () => call(owner.service, `GET /media/${owner.image}`, { headers: asUser(OWNER) }),
    ({ status }) => status === 200,
  );
  left.abort();
  expect(await sending).toBe('AbortError');
  await eventually(
    () => importTo(owner.service, OWNER, archive),
    ({ status }) => status === 200,
  );
  expect(await settled(owner.service, OWNER, owner.video)).toMatchObject({ stream_status: 'ready' });
});
