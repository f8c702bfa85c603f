// Compares the assets of a service with the record of clients that wrote during kills.
import { expect } from 'vitest';
import type { Entry, Ledger } from './ledger.ts';
import type { AssetJson } from '../media.ts';
import { expectSuccess } from '../http/envelope.ts';
import { halves } from './partial-writes.ts';
import { asService, call, eventually } from '../service.ts';
import { openJobs } from '../service/traces.ts';

const STATES: readonly string[] = ['pending_upload', 'processing', 'ready'];

type Api = { readonly url: string };

/** When all jobs have run, every acknowledged write has its effect, and every acknowledged file its bytes. */
export async function expectNothingLost(api: Api, databaseDir: string, { entries }: Ledger): Promise<void> {
  await eventually(
    () => openJobs(databaseDir),
    (jobs) => jobs.length === 0,
    { withinMs: 90_000 },
  );
  expect(await halves(databaseDir)).toEqual([]);
  expect(entries.filter(({ reached }) => reached === 'ready').length).toBeGreaterThan(20);
  for (const entry of entries) if (entry.id) await expectKept(api, entry, entry.id);
}

async function expectKept(
  api: Api,
  { owner, bytes, stored, reached, deleted }: Entry,
  id: string,
): Promise<void> {
  const answer = await call<AssetJson>(api, `GET /media/${id}`, { headers: asService });
  if (answer.status === 404) return expect(deleted, id).not.toBe('no');
  expect(deleted, id).not.toBe('yes');
  const asset = expectSuccess(answer);
  expect(asset['owner_user_id']).toBe(owner);
  expect(STATES.indexOf(String(asset['stream_status'])), id).toBeGreaterThanOrEqual(STATES.indexOf(reached));
  if (!bytes || stored !== 'yes') return;
  const { body } = await call<{ url: string }>(api, `GET /media/${id}/download-url`, { headers: asService });
  expect(Buffer.from(await (await fetch(body.data.url)).arrayBuffer()).equals(bytes), id).toBe(true);
}
