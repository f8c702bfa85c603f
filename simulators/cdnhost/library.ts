// A video library: its videos, their bytes and their processing.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type RouteResponse, json, ResponseError } from '../route.ts';
import type { ProviderContext } from '../simulator.ts';
import { runSteps } from '../clock.ts';
import type { TusUpload } from '../tus.ts';
import type { Report } from '../webhook-sender.ts';
import { corruptedSteps, encodingSteps, ladderFor, type Step } from './encoding-steps.ts';
import { API_STATUS, type CdnhostVideo, WEBHOOK_STATUS } from './video.ts';

export type CdnhostSettings = {
  readonly libraryId: number;
  readonly apiKey: string;
  readonly readOnlyApiKey: string;
  /** Playback requires a token when set. */
  readonly tokenAuthKey?: string | undefined;
  /** Heights in ascending order, limited by the source's height. */
  readonly ladder: readonly number[];
};
export type Entry = {
  video: CdnhostVideo;
  readonly folder: string;
  readonly original: string;
  /** Number of encodings; only the last one continues. */
  run: number;
};
export type CdnhostCollection = { readonly guid: string; readonly name: string };
export type Library = {
  readonly settings: CdnhostSettings;
  readonly context: ProviderContext;
  readonly entries: Map<string, Entry>;
  readonly uploads: Map<string, TusUpload>;
  readonly collections: Map<string, CdnhostCollection>;
};

export const result = (status: number, message: string): RouteResponse =>
  json(status, { success: status < 400, message, statusCode: status });

export function entryOf({ entries }: Library, guid = ''): Entry {
  const entry = entries.get(guid.toLowerCase());
  if (!entry) throw new ResponseError(result(404, 'Video was not found'));
  return entry;
}

export function addVideo({ entries, context }: Library, video: CdnhostVideo): void {
  const folder = join(context.folder, video.guid);
  entries.set(video.guid, { video, folder, original: join(folder, 'original'), run: 0 });
}

export async function removeVideo(library: Library, entry: Entry): Promise<void> {
  library.entries.delete(entry.video.guid);
  // A rendering that is not over writes into the folder meanwhile.
  await rm(entry.folder, { recursive: true, force: true, maxRetries: 5 });
}

export const reportOf = ({ settings }: Library, video: string, kind: number | string): Report => ({
  video,
  kind,
  body: JSON.stringify({ VideoLibraryId: settings.libraryId, VideoGuid: video, Status: Number(kind) }),
});

export function assertNoUpload({ video }: Entry): void {
  if (video.status !== API_STATUS.created)
    throw new ResponseError(result(400, 'The requested video was already uploaded'));
}

/** A direct upload in one request. An incomplete body is discarded. */
export async function takeOriginal(
  library: Library,
  entry: Entry,
  body: AsyncIterable<Buffer>,
): Promise<void> {
  const unfinished = `${entry.original}.part`;
  await mkdir(entry.folder, { recursive: true });
  await using file = await open(unfinished, 'w');
  for await (const part of body) await file.appendFile(part);
  await rename(unfinished, entry.original);
  await describeOriginal(entry);
  encode(library, entry);
}

export function uploadStarted(library: Library, { video }: Entry): void {
  sendLater(library, video.guid, WEBHOOK_STATUS.uploadStarted);
}

/** Called when a presigned upload is complete. */
export function uploadFinished(library: Library, entry: Entry, path: string): void {
  const { guid } = entry.video;
  if (library.context.faults.forEncoding(guid, ['upload_failed'])) {
    entry.video = { ...entry.video, status: API_STATUS.uploadFailed };
    sendLater(library, guid, WEBHOOK_STATUS.uploadFailed);
    return;
  }
  entry.video = { ...entry.video, status: API_STATUS.uploaded };
  library.context.clock.after(0, async () => {
    await mkdir(entry.folder, { recursive: true });
    await rename(path, entry.original);
    await describeOriginal(entry);
    await library.context.webhooks.send(reportOf(library, guid, WEBHOOK_STATUS.uploadFinished));
    encode(library, entry);
  });
}

/** Also encodes an existing original again. */
export function encode(library: Library, entry: Entry): void {
  const { context, entries } = library;
  const { guid } = entry.video;
  const run = entry.run + 1;
  const isReplaced = () => entry.run !== run || entries.get(guid) !== entry;
  entry.run = run;
  context.clock.after(0, async () => {
    const steps = await planSteps(library, entry);
    const runStep = async ({ change, webhook }: Step) => {
      entry.video = { ...entry.video, ...change };
      await context.webhooks.send(reportOf(library, guid, webhook));
    };
    runSteps({ ...context, steps, isReplaced, runStep });
  });
}

async function planSteps(
  { context, settings }: Library,
  { video: { guid }, original, folder }: Entry,
): Promise<readonly Step[]> {
  const fault = context.faults.forEncoding(guid, ['never_finish', 'fail', 'recover', 'partial']);
  const facts = await context.render({ source: original, folder, master: 'playlist.m3u8' });
  const now = context.clock.now();
  return facts
    ? encodingSteps({ ladder: ladderFor(settings.ladder, facts.height), facts, now, fault })
    : corruptedSteps(now);
}

async function describeOriginal(entry: Entry): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(entry.original), hash);
  const { size } = await stat(entry.original);
  entry.video = {
    ...entry.video,
    status: API_STATUS.uploaded,
    hasOriginal: true,
    originalHash: hash.digest('hex'),
    storageSize: size,
  };
}

function sendLater(library: Library, guid: string, status: number): void {
  library.context.clock.after(0, () => library.context.webhooks.send(reportOf(library, guid, status)));
}
