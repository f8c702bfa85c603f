// What commands that create an asset have in common: options, and what they print at the end.
import type { Asset } from '@mediary/client';
import { type Command, Option } from 'commander';
import { type AccessFlags, addAccessOptions, toAccess } from './access-flags.ts';
import { collect, parseDuration, parseJsonObject, parsePoint, parseWait } from './arguments.ts';
import { formatAssetLine } from './asset-text.ts';
import type { Client } from './client.ts';
import type { CommandContext } from './context.ts';
import { assertNotFailed, followAsset, showEncoding } from './events/follow.ts';
import type { Progress } from './progress.ts';

export type NewAssetOptions = AccessFlags & {
  readonly private?: boolean;
  readonly public?: boolean;
  readonly externalId?: string;
  readonly ifExists?: 'fail' | 'return';
  readonly title?: string;
  readonly tag?: string[];
  readonly metadata?: Record<string, unknown>;
  readonly expiresAt?: string;
  readonly expiresIn?: number;
  readonly provider?: string;
  readonly filename?: string;
  readonly mimeType?: string;
  readonly focalPoint?: { x: number; y: number };
  readonly chapters?: string;
  readonly wait?: boolean;
  readonly timeout?: number;
};

export const FOCAL_POINT_OPTION = '--focal-point <point>';
export const CHAPTERS_OPTION = '--chapters <file>';

/** Of commands whose bytes come from elsewhere. */
export const addFileOptions = (command: Command): Command =>
  addSharedOptions(command)
    .option(
      FOCAL_POINT_OPTION,
      'of an image: the part that crops keep, as parts of width and height such as 0.3,0.6',
      parsePoint,
    )
    .option(CHAPTERS_OPTION, 'of a video: a text file with a line for each chapter, such as "1:05 Demo"')
    .addOption(
      new Option('--if-exists <choice>', 'if an asset has this --external-id').choices(['fail', 'return']),
    )
    .option('--provider <name>', 'provider of a video')
    .option('--mime-type <type>', 'media type, such as video/mp4; default: by the extension of the name');

export const addSharedOptions = (command: Command): Command =>
  addAccessOptions(command)
    .addOption(new Option('--private', 'only signed URLs play the asset (default)').conflicts('public'))
    .option('--public', 'everybody can play the asset')
    .option('--external-id <id>', 'your own id of the asset, unique per owner')
    .option('--title <title>', 'title')
    .option('--tag <tag>', 'tag; can be repeated', collect)
    .option('--metadata <json>', 'your own JSON object', parseJsonObject)
    .addOption(
      new Option('--expires-at <time>', 'delete the asset at this time, ISO 8601').conflicts('expiresIn'),
    )
    .option('--expires-in <duration>', 'delete the asset after this time, such as 7d', parseDuration)
    .option('--filename <name>', 'name of the file as the API shows it')
    .option('--wait', 'wait until the asset is ready or failed')
    .option('--timeout <duration>', 'with --wait: the longest wait, such as 10m', parseWait);

type DescribingOptions = AccessFlags &
  Pick<NewAssetOptions, 'private' | 'public' | 'title' | 'tag' | 'metadata'>;

export const toDescription = (flags: DescribingOptions) => ({
  visibility: visibilityOf(flags),
  title: flags.title,
  tags: flags.tag,
  metadata: flags.metadata,
  access: toAccess(flags),
});

/** The members that imports and clips share. */
export const toMembers = (flags: NewAssetOptions) => ({
  filename: flags.filename,
  ...toDescription(flags),
  external_id: flags.externalId,
  expires_at: toExpiry(flags),
});

/** When the service deletes the asset; undefined: never. */
export const toExpiry = ({ expiresAt, expiresIn }: NewAssetOptions): string | undefined =>
  expiresIn === undefined ? expiresAt : new Date(Date.now() + expiresIn * 1000).toISOString();

export const visibilityOf = (
  flags: Pick<NewAssetOptions, 'public' | 'private'>,
): 'public' | 'private' | undefined => {
  if (flags.public) return 'public';
  return flags.private ? 'private' : undefined;
};

type CreatedAsset = {
  readonly client: Client;
  readonly created: Asset;
  readonly flags: NewAssetOptions;
  readonly progress: Progress;
};

/** Prints the asset, with `--wait` once it is ready, failed or the wait has ended: scripts learn its id. */
export async function finishAsset(
  { output }: CommandContext,
  { client, created, flags, progress }: CreatedAsset,
): Promise<void> {
  let asset = created;
  try {
    if (flags.wait)
      asset = await followAsset(client, {
        asset: created,
        timeoutS: flags.timeout,
        onUpdate: (update) => showEncoding(progress, update),
      });
  } finally {
    progress.stop();
    output.item(asset, () => formatAssetLine(asset));
  }
  assertNotFailed(asset);
  output.note(flags.wait ? `Play it: ${openCommand(asset)}` : `Follow it: mediary watch ${asset.id}`);
}

const openCommand = ({ id }: Asset): string => `mediary open ${id} --browser`;
