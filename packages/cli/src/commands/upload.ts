// `upload`, `import` and `clip`: create assets from files, from URLs and from other videos.
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Asset, ResumeStore, UploadOptions, UploadProgress } from '@mediary/client';
import { type Command, Option } from 'commander';
import { collect, parseDuration, parseHeader, parseJsonObject, parseMediaTime } from '../arguments.ts';
import { formatAssetLine } from '../asset-text.ts';
import { type Client, openClient } from '../client.ts';
import type { CommandContext, Handler, Runner } from '../context.ts';
import { CliError, EXIT, type ExitCode, usageError } from '../exit-codes.ts';
import { reportFailure } from '../failure.ts';
import { assertNotFailed, followAsset, showEncoding } from '../follow.ts';
import { createProgress, type Progress } from '../progress.ts';
import { openResumeFolder } from '../resume-folder.ts';

type NewAssetOptions = {
  readonly private?: boolean;
  readonly public?: boolean;
  readonly title?: string;
  readonly tag?: string[];
  readonly metadata?: Record<string, unknown>;
  readonly provider?: string;
  readonly filename?: string;
  readonly mimeType?: string;
  readonly wait?: boolean;
  readonly timeout?: number;
};

type UploadFlags = NewAssetOptions & {
  readonly checksum?: boolean;
  readonly deduplicate?: boolean;
  readonly resume: boolean;
};

export function addUploadCommands(program: Command, run: Runner): void {
  addNewAssetOptions(
    program
      .command('upload')
      .description('Upload files; the same command continues an interrupted upload')
      .argument('<file...>', 'files to upload'),
  )
    .option('--checksum', 'compute the SHA-256 first: the service refuses other bytes')
    .option('--deduplicate', 'use the asset that has the same bytes, if there is one')
    .option('--no-resume', 'always start anew')
    .action(run(uploadFiles));
  addNewAssetOptions(
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

const addNewAssetOptions = (command: Command): Command =>
  addSharedOptions(command)
    .option('--provider <name>', 'provider of a video')
    .option('--mime-type <type>', 'media type, such as video/mp4');

const addSharedOptions = (command: Command): Command =>
  command
    .addOption(new Option('--private', 'only signed URLs play the asset (default)').conflicts('public'))
    .option('--public', 'everybody can play the asset')
    .option('--title <title>', 'title')
    .option('--tag <tag>', 'tag; can be repeated', collect)
    .option('--metadata <json>', 'your own JSON object', parseJsonObject)
    .option('--filename <name>', 'name of the file as the API shows it')
    .option('--wait', 'wait until the asset is ready or failed')
    .option('--timeout <duration>', 'with --wait: the longest wait, such as 10m', parseDuration);

const uploadFiles: Handler<UploadFlags> = async (context, files, flags) => {
  if (files.length > 1 && flags.filename !== undefined) throw usageError('--filename is for one file.');
  const client = await openClient(context);
  let exitCode: ExitCode = EXIT.ok;
  for (const file of files) {
    try {
      await uploadFile(context, { client, file, flags });
    } catch (error) {
      if (context.signal.aborted || files.length === 1) throw error;
      context.output.note(`${file}:`);
      const code = reportFailure(context.output, error);
      exitCode = exitCode === EXIT.ok ? code : exitCode;
    }
  }
  if (exitCode !== EXIT.ok) throw new CliError('Not all files were uploaded.', exitCode);
};

type Job = { readonly client: Client; readonly file: string; readonly flags: UploadFlags };

async function uploadFile(context: CommandContext, { client, file, flags }: Job): Promise<void> {
  const { output } = context;
  const { blob, modifiedAt } = await openFile(file);
  const progress = createProgress(output, basename(file));
  let uploaded: Asset | undefined;
  try {
    uploaded = await client.mediary.media.upload(blob, {
      ...client.options,
      ...toUploadOptions(flags),
      filename: flags.filename ?? basename(file),
      resume: flags.resume && { key: String(modifiedAt), store: openStore(context) },
      onProgress: (state) => showUpload(progress, state),
    });
    await finish(context, { client, created: uploaded, flags, progress });
  } catch (error) {
    progress.stop();
    if (context.signal.aborted && flags.resume && !uploaded)
      output.note('The same command continues the upload.');
    throw error;
  }
}

const openStore = ({ io, output }: CommandContext): ResumeStore =>
  openResumeFolder(io.env, ({ message }) =>
    output.warn(`The upload cannot continue after an interruption: ${message}`),
  );

/** Files are read while they are sent, and never held in memory. */
async function openFile(file: string): Promise<{ readonly blob: Blob; readonly modifiedAt: number }> {
  try {
    const { mtimeMs } = await stat(file);
    return { blob: await openAsBlob(file), modifiedAt: mtimeMs };
  } catch (error) {
    throw usageError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

const toUploadOptions = (flags: UploadFlags): UploadOptions => ({
  ...toDescription(flags),
  provider: flags.provider,
  mimeType: flags.mimeType,
  checksum: flags.checksum === true || flags.deduplicate === true,
  deduplicate: flags.deduplicate,
});

const toDescription = (flags: NewAssetOptions) => ({
  visibility: visibilityOf(flags),
  title: flags.title,
  tags: flags.tag,
  metadata: flags.metadata,
});

const visibilityOf = (flags: NewAssetOptions): 'public' | 'private' | undefined => {
  if (flags.public) return 'public';
  return flags.private ? 'private' : undefined;
};

const showUpload = (progress: Progress, { phase, bytesSent, totalBytes }: UploadProgress): void =>
  phase === 'uploading' ? progress.bytes('uploading', bytesSent, totalBytes) : progress.phase(phase);

type Created = {
  readonly client: Client;
  readonly created: Asset;
  readonly flags: NewAssetOptions;
  readonly progress: Progress;
};

/** Prints the asset, with `--wait` once it is ready, failed or the wait has ended: scripts learn its id. */
async function finish({ output }: CommandContext, { client, created, flags, progress }: Created) {
  let asset = created;
  try {
    if (flags.wait)
      asset = await followAsset(client, {
        id: created.id,
        timeoutS: flags.timeout,
        onUpdate: (update) => showEncoding(progress, update),
      });
  } finally {
    progress.stop();
    output.item(asset, () => formatAssetLine(asset));
  }
  assertNotFailed(asset);
}

type ImportFlags = NewAssetOptions & { readonly header?: Record<string, string> };

const importUrl: Handler<ImportFlags> = async (context, [url = ''], flags) => {
  const client = await openClient(context);
  const created = await client.mediary.media.import(
    {
      url,
      headers: flags.header,
      filename: flags.filename,
      mime_type: flags.mimeType,
      ...toDescription(flags),
      provider: flags.provider,
    },
    client.options,
  );
  await finish(context, {
    client,
    created,
    flags,
    progress: createProgress(context.output, created.filename),
  });
};

type ClipFlags = NewAssetOptions & { readonly start: number; readonly end: number };

const cutClip: Handler<ClipFlags> = async (context, [id = ''], flags) => {
  const client = await openClient(context);
  const created = await client.mediary.media.clip(
    id,
    {
      start_ms: flags.start,
      end_ms: flags.end,
      filename: flags.filename,
      ...toDescription(flags),
    },
    client.options,
  );
  await finish(context, {
    client,
    created,
    flags,
    progress: createProgress(context.output, created.filename),
  });
};
