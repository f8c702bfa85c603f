// `open` and `download`: play an asset, and save its original.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Playback } from '@mediary/client';
import { type Command, Option } from 'commander';
import { type Client, openClient } from '../client.ts';
import type { CommandContext, Environment, Handler, Runner } from '../context.ts';
import { saveDownload } from '../download.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { addImageOptions, type ImageFlags, signEdit, toImageEdit } from './assets/image-edit.ts';

const FORMATS = ['hls', 'dash', 'audio', 'embed', 'thumbnail', 'image'] as const;
type Format = (typeof FORMATS)[number];
type Urls = Readonly<Partial<Record<Format, string | null | undefined>>>;

export function addPlaybackCommands(program: Command, run: Runner): void {
  const open = program
    .command('open')
    .description('Print the playback URL of an asset; private ones expire')
    .argument('<id>', 'id of the asset')
    .addOption(
      new Option(
        '--format <format>',
        'default: image of an image; of video and audio hls, with --browser embed',
      ).choices(FORMATS),
    )
    .option('--browser', 'open it in the browser');
  addImageOptions(open).action(run(openPlayback));
  program
    .command('download')
    .description('Save the original of an asset')
    .argument('<id>', 'id of the asset')
    .option('-o, --output <file>', 'file, or - for stdout; default: the name of the asset; makes its folder')
    .option('--force', 'replace an existing file')
    .action(run(download));
}

type OpenFlags = ImageFlags & { readonly format?: Format; readonly browser?: boolean };

const openPlayback: Handler<OpenFlags> = async (context, [id = ''], { format, browser, ...flags }) => {
  const edit = toImageEdit(flags);
  if (edit && format !== undefined && format !== 'image')
    throw usageError(`A size is for images, not for --format ${format}.`, 'Leave --format out.');
  const client = await openClient(context);
  const playback = await client.mediary.media.playback(id, client.options);
  const chosen = format ?? (edit ? 'image' : chooseFormat(playback, browser === true));
  const urls: Urls = playback;
  const plain = urls[chosen];
  if (typeof plain !== 'string') throw createMissingError(id, chosen, playback);
  const url = edit ? await signEdit(client, plain, edit) : plain;
  if (browser) await openBrowser(url, context.io.env);
  context.output.result({ url, format: chosen, playback } satisfies Opened, () => url);
};

/** Few browsers play a manifest; the embed page does it in each of them. */
function chooseFormat(playback: Playback, isForBrowser: boolean): Format {
  if (playback.kind === 'image') return 'image';
  return isForBrowser && typeof playback.embed === 'string' ? 'embed' : 'hls';
}

/** Waiting helps only while the asset is on its way. */
function createMissingError(id: string, format: Format, playback: Playback): CliError {
  const { stream_status: status } = playback;
  const urls: Urls = playback;
  const others = FORMATS.filter((other) => typeof urls[other] === 'string');
  const isSettled = status === 'ready' || status === 'failed';
  const available = others.join(', ') || 'nothing';
  return new CliError(
    `${id} has no ${format} URL; its status is ${status}.`,
    status === 'failed' ? EXIT.assetFailed : EXIT.failed,
    isSettled ? `Available: ${available}` : `Wait for it: mediary watch ${id}`,
  );
}

type Opened = { readonly url: string; readonly format: Format; readonly playback: Playback };

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Without a shell; a hosted provider's URL is the provider's text. */
async function openBrowser(url: string, env: Environment): Promise<void> {
  if (!/^https?:/.test(url)) throw new CliError(`Not a web address: ${url}`, EXIT.failed);
  const [program = '', ...args] = env['BROWSER']
    ? [env['BROWSER']]
    : (OPENERS[process.platform] ?? ['xdg-open']);
  const browser = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  await once(browser, 'spawn').catch((error: Error) => {
    throw new CliError(`The browser does not start: ${error.message}`, EXIT.failed, `Open ${url}`);
  });
  browser.unref();
}

type DownloadFlags = { readonly output?: string; readonly force?: boolean };

const download: Handler<DownloadFlags> = async (context, [id = ''], flags) => {
  const client = await openClient(context);
  const [asset, source] = await Promise.all([
    client.mediary.media.get(id, client.options),
    waitForDownloadUrl(context, client, id),
  ]);
  const saved = await saveDownload(context, {
    ...source,
    output: flags.output,
    isForced: flags.force === true,
    // The MP4 of a hosted provider is another file than the original.
    sha256: asset.provider_video_id === null ? asset.checksum_sha256 : null,
  });
  if (saved) context.output.result({ id, ...saved }, () => saved.file);
};

const PREPARING_S = 5;

/** A hosted provider may have to make the file first. */
async function waitForDownloadUrl({ output }: CommandContext, { mediary, options }: Client, id: string) {
  for (let isFirst = true; ; isFirst = false) {
    const { url, filename, retry_after_s: retryAfterS } = await mediary.media.downloadUrl(id, options);
    if (url !== null) return { url, filename };
    if (isFirst) output.note('The provider prepares the file.');
    await sleep((retryAfterS ?? PREPARING_S) * 1000, undefined, {
      ...(options.signal && { signal: options.signal }),
    });
  }
}
