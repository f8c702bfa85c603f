// `update`: changes what callers own of an asset, such as its title and its focal point.
import { type Command, Option } from 'commander';
import { type AccessFlags, addAccessOptions } from '../../access-flags.ts';
import { parseJsonObject, parsePoint } from '../../arguments.ts';
import { formatAssetLine } from '../../asset-text.ts';
import { openClient } from '../../client.ts';
import { readChapters } from './chapters-file.ts';
import type { Handler, Runner } from '../../context.ts';
import { usageError } from '../../exit-codes.ts';
import { CHAPTERS_OPTION, FOCAL_POINT_OPTION, toDescription } from '../../new-asset.ts';

export const addUpdateCommand = (program: Command, run: Runner): Command =>
  addAccessOptions(
    program
      .command('update')
      .description(
        'Change an asset; what no option names stays, but rules of access replace all earlier ones',
      )
      .argument('<id>', 'id of the asset'),
  )
    .option('--clear-access', 'remove all rules of access')
    .option('--title <title>', 'title')
    .addOption(new Option('--private', 'only signed URLs play the asset').conflicts('public'))
    .option('--public', 'everybody can play the asset')
    .option('--external-id <id>', 'your own id of the asset, unique per owner')
    .option('--metadata <json>', 'your own JSON object, instead of that of the asset', parseJsonObject)
    .option(
      FOCAL_POINT_OPTION,
      'of an image: the part that crops keep, as parts of width and height such as 0.3,0.6; or none',
      (text: string) => (text === 'none' ? text : parsePoint(text)),
    )
    .option(
      CHAPTERS_OPTION,
      'of a video: a text file with a line for each chapter, such as "1:05 Demo"; or none',
    )
    .action(run(updateAsset));

type UpdateFlags = AccessFlags & {
  readonly clearAccess?: boolean;
  readonly title?: string;
  readonly private?: boolean;
  readonly public?: boolean;
  readonly externalId?: string;
  readonly metadata?: Record<string, unknown>;
  readonly focalPoint?: { x: number; y: number } | 'none';
  readonly chapters?: string;
};

const updateAsset: Handler<UpdateFlags> = async (context, [id = ''], flags) => {
  if (Object.keys(flags).length === 0)
    throw usageError('Nothing to do.', 'Name what to change, such as --title or --focal-point.');
  const description = toDescription(flags);
  if (flags.clearAccess && description.access)
    throw usageError('--clear-access removes all rules.', 'Leave it out to replace them.');
  const { mediary, options } = await openClient(context);
  const change = {
    ...description,
    access: flags.clearAccess ? null : description.access,
    external_id: flags.externalId,
    focal_point: flags.focalPoint === 'none' ? null : flags.focalPoint,
    chapters: await readChapters(context, flags.chapters),
  };
  const asset = await mediary.media.update(id, change, options);
  context.output.result(asset, () => formatAssetLine(asset));
};
