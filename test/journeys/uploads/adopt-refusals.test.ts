// What an operator cannot adopt: files elsewhere, files of the service, links, and files without a type.
import { realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, offer } from '../../support/media.ts';
import { asOperator, asService, asUser, call, startTestService } from '../../support/service.ts';
import { originalFiles } from '../../support/service/traces.ts';
import { type Adoptions, startAdoptions } from '../../support/uploads/adoptions.ts';

let library: Adoptions;
let films: string;
let picture: Buffer;
beforeAll(async () => {
  picture = await makeSmallPng();
  library = await startAdoptions();
  ({ films } = library);
});
afterAll(() => library?.stop());

const addFile: Adoptions['addFile'] = (...file) => library.addFile(...file);
const sourceOf: Adoptions['urlOf'] = (name) => library.urlOf(name);
const request: Adoptions['request'] = (...given) => library.request(...given);

describe('what cannot be adopted', () => {
  const expectRefused = async (json: object, details: object) =>
    expect(expectRefusal(await request(json), 400).details).toMatchObject(details);
  const expectReason = (source: string, reason: string) =>
    expectRefused({ source }, { field: 'source', reason });

  test('is outside of ADOPT_SOURCES, missing, a link, or has another form', async () => {
    await symlink('/etc/hostname', join(films, 'link.mp4'));
    await expectReason('file:///etc/hostname', 'source_refused');
    await expectReason(`file://${films}/../etc/hostname`, 'invalid_value');
    await expectReason(`file://${films}/%2e%2e/hostname`, 'invalid_value');
    await expectReason(sourceOf('link.mp4'), 'source_refused');
    await expectReason(sourceOf('none.mp4'), 'source_unreadable');
    await expectReason('s3://films/a.mp4', 'invalid_value');
    await expectReason('https://files.example.com/a.mp4', 'invalid_value');
  });

  test('has no known type, no bytes, another size, or no owner', async () => {
    const unnamed = { source: await addFile('unnamed', picture) };
    const named = { ...unnamed, mime_type: 'image/png' };
    expectSuccess(await request({ ...named, dry_run: true }));
    await expectRefused(unnamed, { field: 'mime_type', reason: 'required' });
    await expectRefused({ source: await addFile('empty.png', '') }, { reason: 'empty_upload' });
    await expectRefused({ ...named, size_bytes: 7 }, { field: 'size_bytes' });
    await expectRefused({ ...named, owner_user_id: ' ' }, { field: 'owner_user_id' });
  });

  test('is over the quota of the owner', async () => {
    const path = 'PUT /admin/owners/max/limits';
    expectSuccess(await call(library.service, path, { headers: asOperator, json: { max_bytes: 10 } }));
    const json = { source: await addFile('large.png', picture), owner_user_id: 'max' };
    await expectRefused(json, { reason: 'quota_exceeded' });
  });

  test('is for operators alone', async () => {
    const source = await addFile('guarded.png', picture);
    for (const headers of [asUser('ann'), asService, {}])
      expectRefusal(await request({ source }, headers), 401);
  });
});

test('the store and the data of the service are refused, although a place contains them', async () => {
  const other = await startTestService({ ADOPT_SOURCES: `file://${await realpath(tmpdir())}` });
  try {
    const folder = await realpath(other.dataDir);
    const { id } = await offer(other, 'ann', { bytes: picture, fields: IMAGE });
    const [original = ''] = await originalFiles(folder, id);
    const secret = join(folder, 'planted.png');
    await writeFile(secret, picture);
    for (const path of [original, secret]) {
      const json = { owner_user_id: 'eve', source: `file://${path}`, mime_type: 'image/png' };
      const answer = await call(other, 'POST /admin/adoptions', { headers: asOperator, json });
      expect(expectRefusal(answer, 400).details).toMatchObject({ reason: 'source_refused' });
    }
  } finally {
    await other.stop();
  }
});
