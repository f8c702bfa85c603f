// `get`, `rm`, `restore`, `hold`, `release`, `retry` and `watch`: assets of the owner.
import type { Asset, TimelineEntry } from '@mediary/client';
import type { Command } from 'commander';
import { parseWait } from '../../arguments.ts';
import { describeStatus, formatAsset, formatAssetLine } from '../../asset-text.ts';
import { openClient } from '../../client.ts';
import type { Handler, Runner } from '../../context.ts';
import { usageError } from '../../exit-codes.ts';
import { assertNotFailed, followAsset, showEncoding } from '../../events/follow.ts';
import { createProgress } from '../../progress.ts';
import { formatTable, formatTime } from '../../text.ts';
import { addListCommand } from './list.ts';
import { addVersionCommands } from './versions.ts';

export function addAssetCommands(program: Command, run: Runner): void {
  addListCommand(program, run);
  program
    .command('get')
    .description('Show an asset')
    .argument('<id>', 'id of the asset')
    .option('--timeline', 'show what happened to it')
    .action(run(getAsset));
  program
    .command('rm')
    .description('Delete assets: they stop playing at once; their bytes are removed days later')
    .argument('<id...>', 'ids of assets')
    .option('--trash', 'move them to the trash, where they can be restored')
    .option('--erase', 'remove their bytes at once, also of deleted assets (needs the service key)')
    .action(run(removeAssets));
  program
    .command('restore')
    .description('Restore assets from the trash')
    .argument('<id...>', 'ids of assets')
    .action(run(restoreAssets));
  program
    .command('hold')
    .description('Set a legal hold: nothing deletes the assets or replaces their files (service key)')
    .argument('<id...>', 'ids of assets')
    .action(run(holdAssets));
  program
    .command('release')
    .description('Release the legal hold of assets (service key)')
    .argument('<id...>', 'ids of assets')
    .action(run(releaseAssets));
  program
    .command('retry')
    .description('Start another attempt of a failed asset')
    .argument('<id>', 'id of the asset')
    .action(run(retryAsset));
  addVersionCommands(program, run);
  program
    .command('watch')
    .description('Follow an asset until it is ready or failed')
    .argument('<id>', 'id of the asset')
    .option('--timeout <duration>', 'the longest wait, such as 10m', parseWait)
    .action(run(watchAsset));
}

const getAsset: Handler<{ readonly timeline?: boolean }> = async (context, [id = ''], flags) => {
  const { mediary, options } = await openClient(context);
  if (!flags.timeline) {
    const asset = await mediary.media.get(id, options);
    return context.output.result(asset, () => formatAsset(asset));
  }
  const items: TimelineEntry[] = [];
  for await (const entry of mediary.media.timeline(id, {}, options)) items.push(entry);
  context.output.result({ items }, () =>
    formatTable(
      ['TIME', 'EVENT', 'SOURCE', 'DESCRIPTION'],
      items.map(({ at, type, source, sentence }) => [formatTime(at), type, source, sentence]),
    ),
  );
};

type RemoveFlags = { readonly trash?: boolean; readonly erase?: boolean };

const removeAssets: Handler<RemoveFlags> = async (context, ids, { trash, erase }) => {
  const { mediary, options } = await openClient(context);
  for (const id of ids) {
    const deleted = await mediary.media.delete(id, { ...options, trash, erase });
    const outcome = erase ? 'erased' : trash ? 'moved to the trash' : 'deleted';
    context.output.item(deleted, () => `${id}  ${outcome}`);
  }
};

const restoreAssets: Handler = async (context, ids) => {
  const { mediary, options } = await openClient(context);
  for (const id of ids) {
    const asset = await mediary.media.restore(id, options);
    context.output.item(asset, () => formatAssetLine(asset));
  }
};

const holdAssets: Handler = async (context, ids) => {
  const { mediary, options } = await openClient(context);
  for (const id of ids) {
    const asset = await mediary.media.setLegalHold(id, options);
    context.output.item(asset, () => `${id}  held`);
  }
};

const releaseAssets: Handler = async (context, ids) => {
  const { mediary, options } = await openClient(context);
  for (const id of ids) {
    const asset = await mediary.media.releaseLegalHold(id, options);
    context.output.item(asset, () => `${id}  released`);
  }
};

const retryAsset: Handler = async (context, [id = '']) => {
  const { mediary, options } = await openClient(context);
  const { upload } = await mediary.media.retry(id, options);
  const asset = await mediary.media.get(id, options);
  context.output.result(asset, () => formatAssetLine(asset));
  if (upload !== null)
    throw usageError(
      'The bytes must be sent again.',
      'Upload the file as a new asset: mediary upload <file>',
    );
};

const watchAsset: Handler<{ readonly timeout?: number }> = async (context, [id = ''], flags) => {
  const { output } = context;
  const client = await openClient(context);
  const progress = output.isInteractive ? createProgress(output, id) : undefined;
  const show = (asset: Asset): void => {
    if (progress) showEncoding(progress, asset);
    if (output.isJson || !progress)
      output.item(asset, () => `${formatTime(asset.updated_at)}  ${describeStatus(asset)}`);
  };
  try {
    const asset = await followAsset(client, { asset: id, timeoutS: flags.timeout, onUpdate: show });
    progress?.stop();
    if (progress && !output.isJson) output.item(asset, () => formatAssetLine(asset));
    assertNotFailed(asset);
  } finally {
    progress?.stop();
  }
};
