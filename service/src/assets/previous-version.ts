// Keeps the file that was replaced, so that a rollback can bring it back.
import { fileColumns } from './file-columns.ts';
import { pick } from '../tables.ts';
import type { Asset, AssetFile, PreviousVersion } from './asset.ts';

const FILE_COLUMNS = Object.keys(fileColumns) as (keyof AssetFile)[];

export const fileOf = (asset: AssetFile): AssetFile => pick(asset, FILE_COLUMNS);

/** The row stores the copy as JSON, in which times are text. */
export const keepFile = (asset: AssetFile, times: Omit<PreviousVersion, 'file'>): PreviousVersion => ({
  ...times,
  file: JSON.parse(JSON.stringify(fileOf(asset))) as PreviousVersion['file'],
});

export const toFile = ({ file }: PreviousVersion): AssetFile => ({
  ...file,
  uploaded_at: toDate(file.uploaded_at),
  playable_at: toDate(file.playable_at),
  ready_at: toDate(file.ready_at),
});

const toDate = (time: string | null): Date | null => (time === null ? null : new Date(time));

/** The file that a rollback can still bring back. */
export const findRestorable = (
  { previous_version: previous }: Pick<Asset, 'previous_version'>,
  now: Date,
): PreviousVersion | undefined =>
  previous && new Date(previous.restorable_until) > now ? previous : undefined;

/** Which file of the asset a folder of renditions belongs to. */
export function roleOfRun(
  { playback, previous_version: previous }: Pick<Asset, 'playback' | 'previous_version'>,
  folder: string,
): 'current' | 'previous' | undefined {
  if (playback?.kind === 'own' && playback.folder === folder) return 'current';
  const before = previous?.file.playback;
  return before?.kind === 'own' && before.folder === folder ? 'previous' : undefined;
}

/** The asset with the file that it had before, while that can come back. */
export const withPreviousFile = <A extends Pick<Asset, 'previous_version'>>({
  previous_version: previous,
  ...asset
}: A): (Omit<A, 'previous_version'> & AssetFile) | undefined =>
  previous ? { ...asset, ...toFile(previous) } : undefined;
