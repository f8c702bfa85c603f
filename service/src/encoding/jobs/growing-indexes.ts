// The indexes of runs that go on, in the database: what players can play before the run has ended.
import { renditionFolder } from '../../storage/object-key.ts';
import type { EncodingContext } from '../context.ts';
import { formatIndex, type RunIndex } from '../packaging/run-index.ts';
import * as queries from './growing-indexes.sql.ts';

/** Playback reads them too. */
type Tables = Pick<EncodingContext, 'db'>;
type RunRef = { readonly assetId: string; readonly attempt: number; readonly run: number };

/** False when the run may no longer publish. */
export async function saveGrowingIndex({ db }: Tables, run: RunRef, index: RunIndex): Promise<boolean> {
  const folder = renditionFolder(run.attempt, run.run);
  return (await queries.saveGrowingIndex(db, { ...run, folder, body: formatIndex(index) })) !== undefined;
}

/** Undefined when the run has ended: its index is in the store then. */
export const findGrowingIndex = (
  { db }: Tables,
  run: { readonly assetId: string; readonly folder: string; readonly known: number },
) => queries.findGrowingIndex(db, run);

/** Folders of the runs that players may still read. */
export const findPublishedFolders = async ({ db }: Tables, assetId: string): Promise<readonly string[]> =>
  (await queries.findGrowingFolders(db, assetId)).map(({ folder }) => folder);

/** Without folders: those of all runs. */
export const deleteGrowingIndexes = async (
  { db }: Tables,
  assetId: string,
  folders: readonly string[] | null = null,
): Promise<void> => {
  await queries.deleteGrowingIndexes(db, assetId, folders);
};
