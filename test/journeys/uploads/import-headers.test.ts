// Request headers of imports: who may send them, and that they leave no trace (contract B4).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused } from '../../support/http/envelope.ts';
import { file, status } from '../../support/http/file-server.ts';
import {
  expectImported,
  expectImportFailed,
  type Imports,
  NAMED,
  PNG,
  requestImport,
  startImports,
} from '../../support/uploads/imports.ts';
import { settled } from '../../support/media.ts';
import { asService, asUser, call } from '../../support/service.ts';
import { rows } from '../../support/service/traces.ts';

const SECRET_HEADER = 'planted-authorization-of-the-source';
const SECRET_QUERY = 'planted-signature-of-the-source';

let imports: Imports;
let service: Imports['service'];
let server: Imports['server'];
let picture: Buffer;
beforeAll(async () => {
  imports = await startImports();
  ({ service, server, picture } = imports);
});
afterAll(() => imports?.stop());

describe('request headers', () => {
  const asBackend = (json: object) => requestImport(service, { ...json, owner_user_id: 'ann' }, asService);
  const guardedBy = (bytes: Buffer) =>
    server.serve('/guarded.png', (asked, response) =>
      (asked.headers.authorization === SECRET_HEADER ? file(bytes, PNG) : status(403))(asked, response),
    );

  test('a service caller may send them; they and the URL are neither logged, shown nor kept', async () => {
    const url = `${guardedBy(picture)}?signature=${SECRET_QUERY}`;
    const headers = { Authorization: SECRET_HEADER };
    const ready = await asBackend({ url, headers });
    await expectImported(service, await settled(service, 'ann', ready.body.data.id), picture);
    const refused = await asBackend({ url, headers: { Authorization: 'other' }, ...NAMED });
    await expectImportFailed(service, await settled(service, 'ann', refused.body.data.id), 'import_failed');
    await call(service, `DELETE /media/${refused.body.data.id}`, { headers: asUser('ann') });

    for (const secret of [SECRET_HEADER, SECRET_QUERY]) {
      expect(imports.lines.filter((line) => line.includes(secret))).toEqual([]);
      for (const table of ['imports', 'assets', 'events', 'idempotency_keys', 'pgboss.job'])
        expect(
          await rows(service.dataDir, `select 1 from ${table} as row where row::text like $1`, [
            `%${secret}%`,
          ]),
        ).toEqual([]);
    }
  });

  test('a user may not send them, and nobody may send those of the connection', async () => {
    const url = guardedBy(picture);
    expectFieldRefused(
      await requestImport(service, { url, ...NAMED, headers: { Authorization: 'x' } }),
      'headers',
    );
    for (const name of ['Host', 'Range', 'Transfer-Encoding', 'bad name'])
      expectFieldRefused(await asBackend({ url, ...NAMED, headers: { [name]: 'x' } }), `headers.${name}`);
  });
});
