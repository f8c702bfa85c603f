// Who may read a timeline, and its parameters (contract B2, B8).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal } from '../../support/http/envelope.ts';
import { openUpload } from '../../support/media.ts';
import { asOperator, asService, asUser, call, type TestService } from '../../support/service.ts';
import { startTimelineFilm, type TimelineFilm } from '../../support/clips/timeline-film.ts';

let film: TimelineFilm;
let service: TestService;
const as = asUser('ann');
beforeAll(async () => {
  film = await startTimelineFilm();
  service = film.service;
});
afterAll(() => service?.stop());

describe('a timeline', () => {
  test('can be read by the owner and by service callers only', async () => {
    const statusOf = async (path: string, headers: Record<string, string>) =>
      (await call(service, `GET ${path}`, { headers })).status;
    const path = `/media/${film.id}/timeline`;
    expect(await statusOf(path, asService)).toBe(200);
    expectRefusal(await call(service, `GET ${path}`, { headers: asUser('bob') }), 403);
    for (const headers of [{}, asOperator, { ...as, ...asService }])
      expectRefusal(await call(service, `GET ${path}`, { headers }), 401);
    for (const id of [randomUUID(), 'x', `${film.id}0`])
      expectRefusal(await call(service, `GET /media/${id}/timeline`, { headers: as }), 404);
  });

  test('is deleted with its asset', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    await film.ask(`DELETE /media/${id}`);
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
      await call(service, `GET /media/${film.id}/timeline?${field}=${value}`, { headers: as }),
      field,
    );
  });
});
