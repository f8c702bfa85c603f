// Legal holds: while one is set, nothing deletes the asset or replaces its bytes (contract B2).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, complete, IMAGE, openUpload, putBytes, VIDEO } from '../../support/media.ts';
import { asOperator, asService, asUser, call } from '../../support/service.ts';
import { REMOVE_ORPHANS, runStorageCheck } from '../../support/service/storage-check.ts';
import { type ClockedService, startClockedService } from '../../support/service/clocked-service.ts';
import { filesNaming } from '../../support/service/traces.ts';

type Entry = { readonly sentence: string; readonly details: Record<string, unknown> };

const ann = asUser('ann');
const owner = { owner_user_id: 'ann' };
const BYTES = Buffer.from('bytes that a court asks for');

let clock: ClockedService;
let legal: Record<string, string>;
let writer: Record<string, string>;
beforeAll(async () => {
  clock = await startClockedService({ TRASH_DAYS: '1' });
  legal = await createKey('legal', ['read', 'legal_hold']);
  writer = await createKey('writer', ['read', 'write']);
});
afterAll(() => clock?.service.stop());

const request = <T = AssetJson>(line: string, headers: Record<string, string>, json?: object) =>
  call<T>(clock.service, line, { headers, ...(json && { json }) });
async function createKey(name: string, scopes: readonly string[]): Promise<Record<string, string>> {
  const created = await request('POST /admin/service-keys', asOperator, { name, scopes });
  return { 'x-service-key': String(expectSuccess(created)['key']) };
}
const hold = (id: string, headers = legal) => request(`PUT /media/${id}/legal-hold`, headers, owner);
const release = (id: string) => request(`DELETE /media/${id}/legal-hold?owner_user_id=ann`, legal);
const isHeld = async (id: string) =>
  expectSuccess(await request(`GET /media/${id}`, asService))['legal_hold'];
async function upload(fields: object = {}): Promise<string> {
  const started = await openUpload(clock.service, 'ann', { ...IMAGE, ...fields });
  expectSuccess(await putBytes(started, BYTES));
  return started.asset_id;
}
const expectHeld = (answer: Awaited<ReturnType<typeof request>>) =>
  expect(expectRefusal(answer, 409).details).toMatchObject({ reason: 'legal_hold' });
const filesOf = async (id: string) => (await filesNaming(clock.service.dataDir, id)).length;
const timelineOf = async (id: string, headers: Record<string, string>) =>
  expectSuccess(await request(`GET /media/${id}/timeline`, headers))['items'] as Entry[];

describe('a hold', () => {
  test('is set and released by service keys with its scope, never by users', async () => {
    const id = await upload();
    expect(expectRefusal(await hold(id, writer), 403).details).toMatchObject({ scope: 'legal_hold' });
    for (const user of ['ann', 'bob']) expectRefusal(await hold(id, asUser(user)), 403);
    expectRefusal(await request(`DELETE /media/${id}/legal-hold`, ann), 403);
    expect(await isHeld(id)).toBe(false);
    expect(expectSuccess(await hold(id))).toMatchObject({ id, legal_hold: true });
    expect(await isHeld(id)).toBe(true);
    expect(expectSuccess(await release(id))).toMatchObject({ id, legal_hold: false });
    expect(expectSuccess(await hold(id, asService))).toMatchObject({ legal_hold: true });
  });

  test('is visible to service callers and operators only', async () => {
    const id = await upload();
    expectSuccess(await hold(id));
    expect(Object.keys(expectSuccess(await request(`GET /media/${id}`, ann)))).not.toContain('legal_hold');
    const listed = async (line: string, headers: Record<string, string>) =>
      (expectSuccess(await request(line, headers))['items'] as AssetJson[]).find((asset) => asset.id === id);
    expect(await listed('GET /media?owner_user_id=ann', asService)).toMatchObject({ legal_hold: true });
    expect(await listed('GET /admin/media', asOperator)).toMatchObject({ legal_hold: true });
    expect(Object.keys((await listed('GET /media', ann)) ?? {})).not.toContain('legal_hold');
  });

  test('is in the timeline when it is set and released, once each, with the name of the key', async () => {
    const id = await upload();
    for (const change of [hold, hold, release, release]) expectSuccess(await change(id));
    expectSuccess(await request(`PUT /admin/media/${id}/legal-hold`, asOperator));
    const heldEntries = (entries: readonly Entry[]) =>
      entries.filter(({ details }) => String(details['reason']).startsWith('legal_hold'));
    const seen = heldEntries(await timelineOf(id, asService));
    expect(seen.map(({ sentence }) => sentence)).toEqual([
      'The caller set a legal hold with the service key "legal".',
      'The caller released the legal hold with the service key "legal".',
      'An operator set a legal hold.',
    ]);
    expect(seen[0]?.details).toMatchObject({ key_name: 'legal', fields: ['legal_hold'] });
    const shown = heldEntries(await timelineOf(id, ann));
    expect(shown).toHaveLength(3);
    expect(JSON.stringify(shown)).not.toContain('"legal"');
    expect(JSON.stringify(shown)).not.toContain('key_name');
  });

  test('of an operator needs no owner, and of an asset that is deleted for good is 404', async () => {
    const id = await upload();
    const line = `/admin/media/${id}/legal-hold`;
    expect(expectSuccess(await request(`PUT ${line}`, asOperator))).toMatchObject({ legal_hold: true });
    expect(expectSuccess(await request(`DELETE ${line}`, asOperator))).toMatchObject({ legal_hold: false });
    expectRefusal(await request(`PUT ${line}`, asService), 401);
    expectSuccess(await request(`DELETE /media/${id}`, ann));
    expectRefusal(await request(`PUT ${line}`, asOperator), 404);
    expectRefusal(await request('PUT /admin/media/nonsense/legal-hold', asOperator), 404);
    expectRefusal(await hold(id), 404);
  });
});

describe('a held asset', () => {
  test('is deleted by nobody and by no clock until its release', async () => {
    const expires_at = new Date(clock.now() + 3_600_000).toISOString();
    const [living, trashed] = [await upload({ expires_at }), await upload()];
    expectSuccess(await request(`DELETE /media/${trashed}?trash=true`, ann));
    for (const id of [living, trashed]) expectSuccess(await hold(id));
    for (const id of [living, trashed]) {
      expectHeld(await request(`DELETE /media/${id}`, ann));
      expectHeld(await request(`DELETE /media/${id}?erase=true`, asService, owner));
    }
    expectHeld(await request(`DELETE /media/${living}?trash=true`, ann));
    expectHeld(await request(`POST /media/${trashed}/restore`, ann));
    await clock.runAfter(2 * 24 * 60, 'expire-assets');
    await clock.runAfter(0, 'empty-trash');
    expect(await isHeld(living)).toBe(true);
    for (const id of [living, trashed]) expect(await filesOf(id)).toBe(1);
    const held = expectSuccess(
      await request<{ url: string }>(`GET /media/${living}/download-url`, asService),
    ) as { url: string };
    expect(Buffer.from(await (await fetch(held.url)).arrayBuffer()).equals(BYTES)).toBe(true);

    for (const id of [living, trashed]) expectSuccess(await release(id));
    await clock.runAfter(0, 'expire-assets');
    await clock.runAfter(0, 'empty-trash');
    expectRefusal(await request(`GET /media/${living}`, ann), 404);
    expectRefusal(await request(`POST /media/${trashed}/restore`, ann), 404);
  });

  test('keeps bytes that the service refuses, and takes no others in their place', async () => {
    const id = await upload();
    expectSuccess(await hold(id));
    expectRefusal(await complete(clock.service, 'ann', id), 400);
    await runStorageCheck(clock.service, REMOVE_ORPHANS);
    expect(await filesOf(id)).toBe(1);
    expectHeld(await request(`POST /media/${id}/retry`, ann));
    expectSuccess(await release(id));
    expectSuccess(await request(`POST /media/${id}/retry`, ann));
  });

  test('keeps its captions, and takes those of another language', async () => {
    const { asset_id: id } = await openUpload(clock.service, 'ann', VIDEO);
    const put = (language: string) =>
      call(clock.service, `PUT /media/${id}/captions/${language}`, {
        headers: { ...ann, 'content-type': 'text/vtt' },
        body: 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n',
      });
    expectSuccess(await put('en'));
    expectSuccess(await hold(id));
    expect(expectRefusal(await put('en'), 409).details).toMatchObject({ reason: 'legal_hold' });
    expectHeld(await request(`DELETE /media/${id}/captions/en`, ann));
    expectSuccess(await put('de'));
  });

  test('wins or loses a race with its deletion, and is never half of both', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => upload()));
    const results = await Promise.all(
      ids.map(async (id) => {
        const [held, deleted] = await Promise.all([hold(id), request(`DELETE /media/${id}`, ann)]);
        return { id, held: held.status, deleted: deleted.status };
      }),
    );
    for (const { id, held, deleted } of results) {
      expect(
        [
          [200, 409],
          [404, 200],
        ],
        id,
      ).toContainEqual([held, deleted]);
      if (held === 200) expect([await isHeld(id), await filesOf(id)]).toEqual([true, 1]);
    }
  });
});
