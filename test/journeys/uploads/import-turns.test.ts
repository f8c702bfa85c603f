// Imports from servers that stop in the middle give their slots to another owner, and continue later.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cutAt, file, holdAt, inTurn, status } from '../../support/http/file-server.ts';
import {
  expectImported,
  expectNoFiles,
  type Imports,
  NAMED,
  PNG,
  startImport,
  startImports,
} from '../../support/uploads/imports.ts';
import { settled } from '../../support/media.ts';
import { asUser, call, eventually } from '../../support/service.ts';
import { rows } from '../../support/service/traces.ts';

let imports: Imports;
beforeAll(async () => {
  imports = await startImports();
});
afterAll(() => imports.stop());

const FIRST = { ...PNG, etag: '"first"' };
const SECOND = { ...PNG, etag: '"second"' };

const findUploading = async (user: string): Promise<number> => {
  const { body } = await call<{ bytes: { uploading: number } }>(imports.service, 'GET /usage', {
    headers: asUser(user),
  });
  return body.data.bytes.uploading;
};

/** A server that answers once it has this many requests. */
function createBarrier(count: number): (handler: ReturnType<typeof file>) => ReturnType<typeof file> {
  const full = Promise.withResolvers<void>();
  let requests = 0;
  return (handler) => async (request, response) => {
    requests += 1;
    if (requests === count) full.resolve();
    await full.promise;
    handler(request, response);
  };
}

/** Each of four owners imports from a server that stops in the middle; `release` lets two of them go on. */
async function startHeld() {
  const { service, server, picture } = imports;
  const half = Math.floor(picture.length / 2);
  const changed = Buffer.concat([picture, Buffer.from('changed')]);
  const gate = Promise.withResolvers<void>();
  const gated: ReturnType<typeof file> = async (request, response) => {
    await gate.promise;
    file(picture, FIRST)(request, response);
  };
  const held = [FIRST, FIRST, FIRST, PNG].map((headers) => holdAt(picture, half, headers));
  const firstOf = (number: number) => held[number]?.handler ?? file(picture);
  const wholeFile: ReturnType<typeof file> = (_request, response) =>
    response.writeHead(200, { ...SECOND, 'content-length': changed.length }).end(changed);
  const handlers = {
    ann: inTurn(firstOf(0), gated),
    dan: inTurn(firstOf(1), gated),
    eve: inTurn(firstOf(2), wholeFile),
    cat: inTurn(firstOf(3), file(picture, PNG)),
  };
  const started = Object.entries(handlers).map(async ([user, handler]) => {
    const url = server.serve(`/${user}.png`, handler);
    return [user, await startImport(service, { url, ...NAMED }, asUser(user))] as const;
  });
  const assets = Object.fromEntries(await Promise.all(started));
  await Promise.all(held.map(({ waiting }) => waiting));
  return { ids: assets, half, changed, release: () => gate.resolve() };
}

/** As many owners as there are slots: each of the others has to give its slot back. */
async function importWhileOthersHold(count: number): Promise<void> {
  const { service, server, picture } = imports;
  const url = server.serve('/waiting.png', createBarrier(count)(file(picture, PNG)));
  const waiting = Array.from({ length: count }, async (_, number) => {
    const user = `waiting-${number}`;
    return settled(service, user, (await startImport(service, { url, ...NAMED }, asUser(user))).id);
  });
  for (const own of await Promise.all(waiting)) expect(own).toMatchObject({ stream_status: 'ready' });
}

test('waiting owners are served, and each import continues as its server allows', async () => {
  const { service, picture } = imports;
  const { ids: assets, half, changed, release } = await startHeld();
  await importWhileOthersHold(4);

  const idOf = (user: string) => assets[user]?.id ?? '';
  expect(await settled(service, 'eve', idOf('eve'))).toMatchObject({
    stream_status: 'ready',
    size_bytes: changed.length,
  });
  expect(await settled(service, 'cat', idOf('cat'))).toMatchObject({
    stream_status: 'ready',
    size_bytes: picture.length,
  });
  await eventually(
    () => findUploading('dan'),
    (bytes) => bytes === half,
  );
  await call(service, `DELETE /media/${idOf('dan')}`, { headers: asUser('dan') });
  release();
  await expectImported(service, await settled(service, 'ann', idOf('ann')), picture);
  await expectNoFiles(service, idOf('dan'));
  await eventually(
    () => rows(service.dataDir, 'select id from uploads where asset_id = $1', [idOf('dan')]),
    (found) => found.length === 0,
  );
  expect(await findUploading('dan')).toBe(0);
  expect(rangesOf('/ann.png')).toEqual([undefined, `bytes=${half}-`]);
  expect(rangesOf('/eve.png')).toEqual([undefined, `bytes=${half}-`, undefined]);
  expect(rangesOf('/cat.png')).toEqual([undefined, undefined]);
  expect(imports.server.requestsOf('/ann.png')[1]?.headers['if-range']).toBe(FIRST.etag);
});

test('a failed import leaves no bytes that it received before', async () => {
  const { service, server, picture } = imports;
  const handler = inTurn(cutAt(picture, 100_000, FIRST), status(410));
  const url = server.serve('/gone.png', handler);
  const { id } = await startImport(service, { url, ...NAMED });
  expect(await settled(service, 'ann', id)).toMatchObject({ failure: { code: 'import_failed' } });
  expect(rangesOf('/gone.png')).toHaveLength(2);
  await eventually(
    () => rows(service.dataDir, 'select id from uploads where asset_id = $1', [id]),
    (found) => found.length === 0,
  );
});

const rangesOf = (path: string) => imports.server.requestsOf(path).map(({ headers }) => headers.range);
