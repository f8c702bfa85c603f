// `import` and `clip`: create assets from URLs and from other videos.
import type { Command } from 'commander';
import { parseHeader, parseMediaTime } from '../arguments.ts';
import { readChapters } from './assets/chapters-file.ts';
import { openClient } from '../client.ts';
import type { Handler, Runner } from '../context.ts';
import {
  addFileOptions,
  addSharedOptions,
  finishAsset,
  type NewAssetOptions,
  toMembers,
} from '../new-asset.ts';
import { createProgress } from '../progress.ts';

export function addImportCommands(program: Command, run: Runner): void {
  addFileOptions(
    program
      .command('import')
      .description('Create an asset from a URL; the service downloads the file')
      .argument('<url>', 'http or https URL of the file'),
  )
    .option('--header <"name: value">', 'request header for the URL, with the service key', parseHeader)
    .action(run(importUrl));
  addSharedOptions(
    program
      .command('clip')
      .description('Create a video from a part of another one, without an upload')
      .argument('<id>', 'id of the video'),
  )
    .requiredOption('--start <time>', 'start of the part, such as 12.5 or 1:02.5', parseMediaTime)
    .requiredOption('--end <time>', 'end of the part', parseMediaTime)
    .action(run(cutClip));
}

type ImportFlags = NewAssetOptions & { readonly header?: Record<string, string> };

const importUrl: Handler<ImportFlags> = async (context, [url = ''], flags) => {
  const client = await openClient(context);
  const created = await client.mediary.media.import(
    {
      url,
      headers: flags.header,
      mime_type: flags.mimeType,
      ...toMembers(flags),
      provider: flags.provider,
      focal_point: flags.focalPoint,
      chapters: await readChapters(context, flags.chapters),
    },
    { ...client.options, ifExists: flags.ifExists },
  );
  const progress = createProgress(context.output, created.filename);
  await finishAsset(context, { client, created, flags, progress });
};

type ClipFlags = NewAssetOptions & { readonly start: number; readonly end: number };

const cutClip: Handler<ClipFlags> = async (context, [id = ''], flags) => {
  const client = await openClient(context);
  const request = { start_ms: flags.start, end_ms: flags.end, ...toMembers(flags) };
  const created = await client.mediary.media.clip(id, request, client.options);
  const progress = createProgress(context.output, created.filename);
  await finishAsset(context, { client, created, flags, progress });
};
