// Replacements of files: opens them, sends their bytes, and waits until they took over.
import sharp from 'sharp';
import { expect } from 'vitest';
import { expectRefusal, expectSuccess } from '../http/envelope.ts';
import { type AssetJson, complete, putBytes, readAsset, type Started, VIDEO } from '../media.ts';
import { type Answer, asUser, call, eventually, type TestService } from '../service.ts';
import { openJobs } from '../service/traces.ts';

const ann = asUser('ann');

/** Those of assets of ann. */
export function replacementsOf(service: () => TestService) {
  const replace = (id: string, fields: object = {}, headers: Record<string, string> = ann) =>
    call<Started>(service(), `POST /media/${id}/replace`, { headers, json: { ...VIDEO, ...fields } });
  const versionsOf = async (id: string) =>
    expectSuccess<{ items: AssetJson[] }>(
      await call(service(), `GET /media/${id}/versions`, { headers: ann }),
    ).items;
  const jobsEnd = () =>
    eventually(
      () => openJobs(service().dataDir),
      (open) => open.length === 0,
    );
  return {
    replace,
    versionsOf,
    jobsEnd,
    rollBack: (id: string) => call<AssetJson>(service(), `POST /media/${id}/rollback`, { headers: ann }),
    rolesOf: async (id: string) => (await versionsOf(id)).map(({ role }) => role),
    /** Uploads the bytes of a replacement, and returns its id. */
    uploadReplacement: async (id: string, bytes: Uint8Array, fields: object = {}): Promise<string> => {
      const started = expectSuccess<Started>(await replace(id, fields));
      await putBytes(started, bytes);
      expect((await complete(service(), 'ann', started.asset_id)).status).toBe(200);
      return started.asset_id;
    },
    replacedBy: (id: string, filename: string) =>
      eventually(
        () => readAsset(service(), 'ann', id),
        (asset) => asset['filename'] === filename,
      ),
    /** What ends previous files, and removes objects. */
    runHourlyJobs: async (): Promise<void> => {
      const { db, jobs } = service().adapters;
      for (const name of ['empty-trash', 'remove-deferred'] as const) {
        await db.transaction((tx) => jobs.send(tx, name, {}));
        await eventually(
          () => jobs.hasOpenJob(name, {}),
          (isOpen) => !isOpen,
        );
        await jobsEnd();
      }
    },
  };
}

export const expectConflict = (seen: Answer<unknown>, reason: string) =>
  expect(expectRefusal(seen, 409).details).toMatchObject({ reason });

/** A picture of one colour. */
export const paintPng = (red: number, width: number): Promise<Buffer> =>
  sharp({ create: { width, height: 60, channels: 3, background: { r: red, g: 0, b: 0 } } })
    .png()
    .toBuffer();
