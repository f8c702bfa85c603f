// `upload`: creates assets from files and folders.
import { basename } from 'node:path';
import type { Asset, ResumeStore, UploadOptions, UploadProgress } from '@mediary/client';
import { openFile } from '@mediary/client/node';
import { type Command, Option } from 'commander';
import { parseCount } from '../arguments.ts';
import { readChapters } from './assets/chapters-file.ts';
import { type Client, openClient } from '../client.ts';
import type { CommandContext, Handler, Runner } from '../context.ts';
import { CliError, EXIT, type ExitCode, usageError } from '../exit-codes.ts';
import { reportFailure } from '../failure.ts';
import { addFileOptions, finishAsset, type NewAssetOptions, toDescription, toExpiry } from '../new-asset.ts';
import { createProgress, createTotalProgress, type Progress } from '../progress.ts';
import { openResumeFolder } from '../resume-folder.ts';
import { findUploadFiles, type LocalFile } from '../upload-files.ts';

type FileFlags = NewAssetOptions &
  Pick<UploadOptions, 'replaces' | 'keep'> & {
    readonly checksum?: boolean;
    readonly deduplicate?: boolean;
    readonly resume: boolean;
  };

type UploadFlags = FileFlags & {
  readonly recursive?: boolean;
  readonly concurrency: number;
  readonly otherFiles: 'skip' | 'refuse';
};

export const addUploadCommand = (program: Command, run: Runner): Command =>
  addFileOptions(
    program
      .command('upload')
      .description('Upload files; the same command continues an interrupted upload')
      .argument('<file...>', 'files to upload; with --recursive also folders'),
  )
    .option('-r, --recursive', 'upload the images, videos and audio files in folders')
    .option('--concurrency <count>', 'files that are sent at the same time', parseCount, 1)
    .addOption(
      new Option('--other-files <choice>', 'files in folders that are neither images nor videos')
        .choices(['skip', 'refuse'])
        .default('skip'),
    )
    .option('--checksum', 'compute the SHA-256 first: the service refuses other bytes')
    .option('--deduplicate', 'use the asset that has the same bytes, if there is one')
    .option('--no-resume', 'always start anew')
    .addHelpText(
      'after',
      `
Examples:
  mediary upload film.mp4 --wait --title "Launch day"
  mediary upload holidays/ --recursive --concurrency 3 --tag holidays`,
    )
    .action(run(uploadFiles));

const uploadFiles: Handler<UploadFlags> = async (context, paths, flags) => {
  const files = await findFiles(context, paths, flags);
  if (files.length > 1 && flags.filename !== undefined) throw usageError('--filename is for one file.');
  if (files.length > 1 && flags.externalId !== undefined) throw usageError('--external-id is for one file.');
  if (files.length > 1 && flags.chapters !== undefined) throw usageError('--chapters is for one file.');
  const client = await openClient(context);
  const [first] = files;
  if (files.length === 1 && first) {
    const progress = createProgress(context.output, basename(first.path));
    return uploadFile(context, { client, file: first, flags, progress });
  }
  const total = createTotalProgress(
    context.output,
    files.map(({ size }) => size),
  );
  const run: Run = { context: { ...context, output: total.output }, client, flags, start: total.start };
  try {
    const exitCode = await uploadEach(run, files);
    if (exitCode !== EXIT.ok) throw new CliError('Not all files were uploaded.', exitCode);
  } finally {
    total.stop();
  }
};

async function findFiles(
  { output }: CommandContext,
  paths: readonly string[],
  { recursive, mimeType, otherFiles }: UploadFlags,
): Promise<readonly LocalFile[]> {
  const isTypeGiven = mimeType !== undefined;
  const { files, others } = await findUploadFiles(paths, { isRecursive: recursive === true, isTypeGiven });
  if (others.length > 0 && otherFiles === 'refuse')
    throw usageError(
      `${others.length} files are neither images nor videos by their names, such as ${others[0]}.`,
      'Leave them out with --other-files skip, or name their type with --mime-type.',
    );
  for (const file of others) output.note(`${file}: skipped, neither an image nor a video by its name`);
  if (files.length === 0) throw usageError(`There are no images or videos in ${paths.join(', ')}.`);
  return files;
}

type Run = {
  readonly context: CommandContext;
  readonly client: Client;
  readonly flags: UploadFlags;
  readonly start: (size: number) => Progress;
};

/** The exit code of the first file that fails. */
async function uploadEach(run: Run, files: readonly LocalFile[]): Promise<ExitCode> {
  const { context, client, flags } = run;
  let exitCode: ExitCode = EXIT.ok;
  let isStopped = false;
  const queue = files.values();
  const uploadNext = async (): Promise<void> => {
    for (const file of queue) {
      if (isStopped) return;
      try {
        await uploadFile(context, { client, file, flags, progress: run.start(file.size) });
      } catch (error) {
        if (context.signal.aborted) throw error;
        const code = reportFailure(context.output, error, file.path);
        exitCode = exitCode === EXIT.ok ? code : exitCode;
        // The next files would fail for the same cause.
        isStopped ||= code === EXIT.auth || code === EXIT.unreachable;
      }
    }
  };
  await Promise.all(Array.from({ length: flags.concurrency }, uploadNext));
  return exitCode;
}

type Job = {
  readonly client: Client;
  readonly file: LocalFile;
  readonly flags: FileFlags;
  readonly progress: Progress;
};

/** Sends the file, and prints its asset. */
export async function uploadFile(
  context: CommandContext,
  { client, file, flags, progress }: Job,
): Promise<void> {
  const { output } = context;
  let uploaded: Asset | undefined;
  try {
    uploaded = await client.mediary.media.upload(await openLocalFile(file), {
      ...client.options,
      ...toUploadOptions(flags),
      chapters: await readChapters(context, flags.chapters),
      filename: flags.filename ?? basename(file.path),
      resume: flags.resume && { key: String(file.modifiedAt), store: openStore(context) },
      onProgress: (state) => showUpload(progress, state),
    });
    await finishAsset(context, { client, created: uploaded, flags, progress });
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
const openLocalFile = ({ path }: LocalFile): Promise<Blob> =>
  openFile(path).catch((error: Error) => {
    throw usageError(`${path} cannot be read: ${error.message}`);
  });

const toUploadOptions = (flags: FileFlags): UploadOptions => ({
  ...toDescription(flags),
  replaces: flags.replaces,
  keep: flags.keep,
  externalId: flags.externalId,
  ifExists: flags.ifExists,
  expiresAt: toExpiry(flags),
  provider: flags.provider,
  focalPoint: flags.focalPoint,
  mimeType: flags.mimeType,
  checksum: flags.checksum === true || flags.deduplicate === true,
  deduplicate: flags.deduplicate,
});

const showUpload = (progress: Progress, { phase, bytesSent, totalBytes }: UploadProgress): void =>
  phase === 'uploading' ? progress.bytes('uploading', bytesSent, totalBytes) : progress.phase(phase);
