// Publishes what can be played before a run has ended: files to the store, manifests to the database.
import { renditionFolder } from '../../storage/object-key.ts';
import type { EncodingContext } from '../context.ts';
import type { NamedManifest } from '../packaging/playable-part.ts';
import * as queries from './growing-manifests.sql.ts';

/** Playback reads them too. */
type Tables = Pick<EncodingContext, 'db'>;
type RunRef = { readonly assetId: string; readonly attempt: number; readonly try: number };

/** False when the run may no longer publish. */
export async function saveManifests(
  { db }: Tables,
  run: RunRef,
  manifests: readonly NamedManifest[],
): Promise<boolean> {
  const saved = await queries.saveGrowingManifests(db, {
    ...run,
    folder: renditionFolder(run.attempt, run.try),
    names: manifests.map(({ name }) => name),
    bodies: manifests.map(({ text }) => text),
  });
  return saved.length > 0;
}

/** Undefined when the run has ended: its manifests are in the store then. */
export const findManifest = async (
  { db }: Tables,
  manifest: { readonly assetId: string; readonly folder: string; readonly name: string },
): Promise<string | undefined> => (await queries.findGrowingManifest(db, manifest))?.body;

/** Folders of the runs that players may still read. */
export const findPublishedFolders = async ({ db }: Tables, assetId: string): Promise<readonly string[]> =>
  (await queries.findGrowingFolders(db, assetId)).map(({ folder }) => folder);

/** Without folders: those of all runs. */
export const deleteManifests = async (
  { db }: Tables,
  assetId: string,
  folders: readonly string[] | null = null,
): Promise<void> => {
  await queries.deleteGrowingManifests(db, assetId, folders);
};
