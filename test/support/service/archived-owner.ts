// An owner with an archive that tests change: an image, then a video with captions.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeClip } from '../clips/clips.ts';
import { makeSmallPng } from '../encoding/processed-assets.ts';
import { expectSuccess } from '../http/envelope.ts';
import { IMAGE, ingest, offer, settled } from '../media.ts';
import { asUser, call, startTestService, type TestService } from '../service.ts';
import {
  type ArchiveEntry,
  archiveOf,
  entriesOf,
  exportOf,
  type ImportJson,
  importTo,
  sealed,
  withMembers,
} from './archives.ts';
import { completed, erase } from './erasures.ts';

export const OWNER = 'dora';
const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n';

/** Entries of a report. */
export const IMPORTED = { result: 'imported', code: null };
export const refusedBy = (code: string) => ({ result: 'refused', code });

export type ArchivedOwner = Awaited<ReturnType<typeof startArchivedOwner>>;

export async function startArchivedOwner() {
  const service = await startTestService(
    { MAX_UPLOAD_BYTES: String(4 * 1024 * 1024), OWNER_IMPORT_MAX_ASSETS: '2' },
    { isStoreDirect: false },
  );
  const { id: image } = await offer(service, OWNER, { bytes: await makeSmallPng(), fields: IMAGE });
  await settled(service, OWNER, image);
  const { id: video } = await ingest(service, OWNER, { file: await makeClip({ seconds: 1 }) });
  const captions = { headers: { ...asUser(OWNER), 'content-type': 'text/vtt' }, body: VTT };
  expectSuccess(await call(service, `PUT /media/${video}/captions/en`, captions));
  const entries = await entriesOf(await exportOf(service, OWNER));
  const filesOf = (id: string) => listFiles(service, id);
  return {
    service,
    image,
    video,
    entries,
    filesOf,
    ...changesOf(entries),
    importing: async (changed: readonly ArchiveEntry[], owner = OWNER): Promise<ImportJson> =>
      expectSuccess(await importTo(service, owner, await archiveOf(changed))) as ImportJson,
    erase: async (): Promise<void> => {
      await completed(service, OWNER, (await erase(service, OWNER)).id);
      expect([...(await filesOf(image)), ...(await filesOf(video))]).toEqual([]);
    },
  };
}

/** The names of all stored objects of an asset, also of those that no row names. */
async function listFiles({ dataDir }: TestService, id: string): Promise<string[]> {
  const all = await readdir(join(dataDir, 'objects'), { recursive: true, withFileTypes: true });
  const paths = all.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  return paths.filter((path) => path.includes(id));
}

/** Archives that differ in one file. */
function changesOf(entries: readonly ArchiveEntry[]) {
  const indexOf = (name: string): number => {
    const index = entries.findIndex((entry) => entry.name === name);
    expect(index, name).toBeGreaterThanOrEqual(0);
    return index;
  };
  const changing = (name: string, change: (bytes: Buffer) => Buffer): ArchiveEntry[] => {
    const index = indexOf(name);
    const entry = entries[index] as ArchiveEntry;
    return entries.with(index, { ...entry, bytes: change(entry.bytes) });
  };
  return {
    indexOf,
    changing,
    /** With other members of `asset.json`. */
    describing: (id: string, members: object): ArchiveEntry[] =>
      sealed(changing(`assets/${id}/asset.json`, (bytes) => withMembers(bytes, members))),
    without: (name: string): ArchiveEntry[] => sealed(entries.toSpliced(indexOf(name), 1)),
  };
}
