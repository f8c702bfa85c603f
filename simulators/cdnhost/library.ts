// A video library: its videos, their bytes and their processing.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Answer, json, Refused } from '../route.ts';
import type { Ground } from '../simulator.ts';
import { runSteps } from '../step-runner.ts';
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
  shows: CdnhostVideo;
  readonly folder: string;
  readonly original: string /** Counts encodings; only the last one goes on. */;
  run: number;
};
export type Library = {
  readonly settings: CdnhostSettings;
  readonly ground: Ground;
  readonly entries: Map<string, Entry>;
  readonly uploads: Map<string, TusUpload>;
};

export const result = (status: number, message: string): Answer =>
  json(status, { success: status < 400, message, statusCode: status });

export function entryOf({ entries }: Library, guid = ''): Entry {
  const entry = entries.get(guid.toLowerCase());
  if (!entry) throw new Refused(result(404, 'Video was not found'));
  return entry;
}

export function addVideo({ entries, ground }: Library, shows: CdnhostVideo): void {
  const folder = join(ground.folder, shows.guid);
  entries.set(shows.guid, { shows, folder, original: join(folder, 'original'), run: 0 });
}

export async function removeVideo(library: Library, entry: Entry): Promise<void> {
  library.entries.delete(entry.shows.guid);
  await rm(entry.folder, { recursive: true, force: true });
}

export const reportOf = ({ settings }: Library, video: string, kind: number | string): Report => ({
  video,
  kind,
  body: JSON.stringify({ VideoLibraryId: settings.libraryId, VideoGuid: video, Status: Number(kind) }),
});

export function demandNoUpload({ shows }: Entry): void {
  if (shows.status !== API_STATUS.created)
    throw new Refused(result(400, 'The requested video was already uploaded'));
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

export function uploadStarted(library: Library, { shows }: Entry): void {
  tell(library, shows.guid, WEBHOOK_STATUS.uploadStarted);
}

/** Called when a presigned upload is complete. */
export function uploadFinished(library: Library, entry: Entry, path: string): void {
  const { guid } = entry.shows;
  if (library.ground.faults.forEncoding(guid, ['upload_failed'])) {
    entry.shows = { ...entry.shows, status: API_STATUS.uploadFailed };
    tell(library, guid, WEBHOOK_STATUS.uploadFailed);
    return;
  }
  entry.shows = { ...entry.shows, status: API_STATUS.uploaded };
  library.ground.clock.after(0, async () => {
    await mkdir(entry.folder, { recursive: true });
    await rename(path, entry.original);
    await describeOriginal(entry);
    await library.ground.webhooks.send(reportOf(library, guid, WEBHOOK_STATUS.uploadFinished));
    encode(library, entry);
  });
}

/** Also encodes an existing original again. */
export function encode(library: Library, entry: Entry): void {
  const { ground, entries } = library;
  const { guid } = entry.shows;
  const run = entry.run + 1;
  const isOver = () => entry.run !== run || entries.get(guid) !== entry;
  entry.run = run;
  ground.clock.after(0, async () => {
    const steps = await planOf(library, entry);
    const take = async ({ shows, webhook }: Step) => {
      entry.shows = { ...entry.shows, ...shows };
      await ground.webhooks.send(reportOf(library, guid, webhook));
    };
    runSteps({ ...ground, steps, isOver, take });
  });
}

async function planOf(
  { ground, settings }: Library,
  { shows: { guid }, original, folder }: Entry,
): Promise<readonly Step[]> {
  const fault = ground.faults.forEncoding(guid, ['never_finish', 'fail', 'recover', 'partial']);
  const facts = await ground.render({ source: original, folder, master: 'playlist.m3u8' });
  const now = ground.clock.now();
  return facts
    ? encodingSteps({ ladder: ladderFor(settings.ladder, facts.height), facts, now, fault })
    : corruptedSteps(now);
}

async function describeOriginal(entry: Entry): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(entry.original), hash);
  const { size } = await stat(entry.original);
  entry.shows = {
    ...entry.shows,
    status: API_STATUS.uploaded,
    hasOriginal: true,
    originalHash: hash.digest('hex'),
    storageSize: size,
  };
}

function tell(library: Library, guid: string, status: number): void {
  library.ground.clock.after(0, () => library.ground.webhooks.send(reportOf(library, guid, status)));
}
