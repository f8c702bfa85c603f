// Who may read a timeline, and its parameters (contract B2, B8).
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../support/clips.ts';
import { expectFieldRefused, expectRefusal } from '../support/envelope.ts';
import { openUpload, putBytes, settled } from '../support/media.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { PROCESSED, tell } from '../support/webhooks.ts';

const START = Date.now();
/** A clock that stands still between two steps. */
let now = START;
const later = (minutes: number) => {
  now += minutes * 60_000;
};

let service: TestService;
let film: string;
const as = asUser('ann');
const ask = async (request: string, json?: object) =>
  expect(await call(service, request, { headers: as, ...(json && { json }) })).toMatchObject({ status: 200 });

/** Half an hour in the life of a film, a minute for each step. */
async function live(): Promise<string> {
  const started = await openUpload(service, 'ann');
  const id = started.asset_id;
  const steps = [
    () => putBytes(started, bytes),
    () => ask(`PATCH /media/${id}`, { title: 'A film', tags: ['a'] }),
    () => ask(`POST /media/${id}/complete`),
    () => ask(`DELETE /media/${id}?purge=false`),
    () => ask(`POST /media/${id}/restore`),
    async () =>
      expect(
        await tell(service, 'onprem', {
          asset_id: id,
          status: 'failed',
          attempt: 2,
          failure: { code: 'no_sound', message: 'No sound', retryable: true },
        }),
      ).toEqual(PROCESSED),
    () => ask(`POST /media/${id}/retry`),
  ];
  for (const step of steps) {
    later(1);
    await step();
    if (step === steps[2] || step === steps[6]) await settled(service, 'ann', id);
  }
  return id;
}

let bytes: Buffer;
beforeAll(async () => {
  service = await startTestService({}, { now: () => new Date(now) });
  bytes = await readFile(await makeClip({ seconds: 1 }));
  film = await live();
}, 180_000);
afterAll(() => service?.stop());

describe('a timeline', () => {
  test('can be read by the owner and by service callers only', async () => {
    const statusOf = async (path: string, headers: Record<string, string>) =>
      (await call(service, `GET ${path}`, { headers })).status;
    const path = `/media/${film}/timeline`;
    expect(await statusOf(path, asService)).toBe(200);
    expectRefusal(await call(service, `GET ${path}`, { headers: asUser('bob') }), 403);
    for (const headers of [{}, asOperator, { ...as, ...asService }])
      expectRefusal(await call(service, `GET ${path}`, { headers }), 401);
    for (const id of [randomUUID(), 'x', `${film}0`])
      expectRefusal(await call(service, `GET /media/${id}/timeline`, { headers: as }), 404);
  });

  test('is deleted with its asset', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    await ask(`DELETE /media/${id}`);
    expectRefusal(await call(service, `GET /media/${id}/timeline`, { headers: as }), 404);
  });

  test.each([
    ['limit', '0'],
    ['limit', '201'],
    ['limit', 'x'],
    ['cursor', 'x'],
    ['cursor', ''],
    ['cursor', `${randomUUID()}0`],
  ])('rejects an invalid parameter and names it: %s=%s', async (field, value) => {
    expectFieldRefused(
      await call(service, `GET /media/${film}/timeline?${field}=${value}`, { headers: as }),
      field,
    );
  });
});
