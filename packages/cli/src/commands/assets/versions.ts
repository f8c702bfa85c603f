// `replace`, `versions` and `rollback`: another file for an asset, and the way back.
import { basename } from 'node:path';
import type { AssetVersion, UploadOptions } from '@mediary/client';
import { type Command, Option } from 'commander';
import { parseWait } from '../../arguments.ts';
import { formatAssetLine } from '../../asset-text.ts';
import { openClient } from '../../client.ts';
import type { Handler, Runner } from '../../context.ts';
import type { NewAssetOptions } from '../../new-asset.ts';
import { createProgress } from '../../progress.ts';
import { formatBytes, formatDuration, formatTable, formatTime } from '../../text.ts';
import { findUploadFiles } from '../../upload-files.ts';
import { uploadFile } from '../upload.ts';

export function addVersionCommands(program: Command, run: Runner): void {
  program
    .command('replace')
    .description('Upload a new file for an asset; the old one plays until the new one is ready')
    .argument('<id>', 'id of the asset')
    .argument('<file>', 'the new file, of the same kind')
    .addOption(
      new Option('--keep <part...>', 'what the new file takes over from the old one').choices([
        'captions',
        'chapters',
        'focal_point',
        'poster',
      ]),
    )
    .option('--filename <name>', 'name of the file as the API shows it')
    .option('--mime-type <type>', 'media type, such as video/mp4; default: by the extension of the name')
    .option('--wait', 'wait until the asset has the new file')
    .option('--timeout <duration>', 'with --wait: the longest wait, such as 10m', parseWait)
    .action(run(replaceFile));
  program
    .command('versions')
    .description('List the next, the current and the previous file of an asset')
    .argument('<id>', 'id of the asset')
    .action(run(listVersions));
  program
    .command('rollback')
    .description('Bring the previous file of assets back')
    .argument('<id...>', 'ids of assets')
    .action(run(rollBack));
}

type ReplaceFlags = NewAssetOptions & { readonly keep?: UploadOptions['keep'] };

const replaceFile: Handler<ReplaceFlags> = async (context, [id = '', path = ''], flags) => {
  const { files } = await findUploadFiles([path], { isRecursive: false, isTypeGiven: true });
  const client = await openClient(context);
  for (const file of files)
    await uploadFile(context, {
      client,
      file,
      flags: { ...flags, replaces: id, resume: true },
      progress: createProgress(context.output, basename(path)),
    });
};

const listVersions: Handler = async (context, [id = '']) => {
  const { mediary, options } = await openClient(context);
  const items: AssetVersion[] = [];
  for await (const version of mediary.versions.list(id, options)) items.push(version);
  context.output.result({ items }, () =>
    formatTable(
      ['VERSION', 'STATUS', 'SIZE', 'DURATION', 'UPLOADED', 'RESTORABLE UNTIL', 'NAME'],
      items.map((version) => [
        version.role,
        version.stream_status === 'processing' ? `processing ${version.progress}%` : version.stream_status,
        version.size_bytes === null ? null : formatBytes(version.size_bytes),
        version.duration_ms === null ? null : formatDuration(version.duration_ms),
        version.uploaded_at === null ? null : formatTime(version.uploaded_at),
        version.restorable_until === null ? null : formatTime(version.restorable_until),
        version.filename,
      ]),
    ),
  );
};

const rollBack: Handler = async (context, ids) => {
  const { mediary, options } = await openClient(context);
  for (const id of ids) {
    const asset = await mediary.versions.rollBack(id, options);
    context.output.item(asset, () => formatAssetLine(asset));
  }
};
