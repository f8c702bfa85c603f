// Operators import with the command and by HTTP; others do not.
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, IMAGE, offer, settled } from '../../support/media.ts';
import { exportOf, importTo } from '../../support/service/archives.ts';
import { runCli } from '../../support/service/cli.ts';
import { completed, erase } from '../../support/service/erasures.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  SECRETS,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let service: TestService;
let png: Buffer;
beforeAll(async () => {
  service = await startTestService({}, { isStoreDirect: false });
  png = await makeSmallPng();
});
afterAll(() => service?.stop());

test('the command imports what it has saved, and fails where the report has a problem', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-import-'));
  const env = { MEDIARY_URL: service.address, MEDIARY_OPERATOR_KEY: SECRETS.OPERATOR_KEY };
  const cli = (...args: string[]) => runCli(args, { folder, env });
  const { id } = await offer(service, 'carla', { bytes: png, fields: IMAGE });
  await settled(service, 'carla', id);
  expect(await cli('owners', 'export', 'carla', '-o', 'carla.tar')).toMatchObject({ code: 0 });
  await completed(service, 'carla', (await erase(service, 'carla')).id);
  const imported = await cli('owners', 'import', 'carla.tar');
  expect(imported, imported.stderr).toMatchObject({ code: 0 });
  expect(imported.stdout).toMatch(/^owner +carla\ncomplete +yes\nimported +1\n/);
  const json = await cli('owners', 'import', 'carla.tar', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ counts: { already_there_count: 1 } });

  await settled(service, 'carla', id);
  expectSuccess(await call(service, `DELETE /media/${id}`, { headers: asUser('carla') }));
  const deleted = await cli('owners', 'import', 'carla.tar');
  expect(deleted).toMatchObject({ code: 1, stdout: expect.stringContaining('asset_deleted') });
  await truncate(join(folder, 'carla.tar'), 3000);
  expect(await cli('owners', 'import', 'carla.tar')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The archive ends early'),
  });
  await writeFile(join(folder, 'other.tar'), 'hello');
  expect(await cli('owners', 'import', 'other.tar')).toMatchObject({ code: 2 });
  expect(await cli('owners', 'import', 'missing.tar')).toMatchObject({ code: 2 });
  await rm(folder, { recursive: true });
});

test('only operators import, and not while the owner is being erased', async () => {
  const archive = await exportOf(service, 'nobody');
  for (const headers of [asService, asUser('ann'), {}]) {
    const answer = await call(service, 'POST /admin/owners/nobody/import', { headers, body: archive });
    expect(answer.status).toBe(401);
  }
  const held = await offer(service, 'held', { bytes: png, fields: IMAGE });
  await settled(service, 'held', held.id);
  const hold = `/admin/media/${held.id}/legal-hold`;
  expectSuccess(await call(service, `PUT ${hold}`, { headers: asOperator }));
  const saved = await exportOf(service, 'held');
  const erasure = await erase(service, 'held');
  const refusal = expectRefusal(await importTo(service, 'held', saved), 409);
  expect(refusal.details).toMatchObject({ reason: 'owner_is_being_erased' });
  expectSuccess(await call(service, `DELETE ${hold}`, { headers: asOperator }));
  await completed(service, 'held', erasure.id);
  expect((await importTo(service, 'held', saved)).body.data.counts).toMatchObject({ imported_count: 1 });
  const asset = await call<AssetJson>(service, `GET /media/${held.id}`, { headers: asService });
  expect(asset.body.data).toMatchObject({ legal_hold: true });
});
