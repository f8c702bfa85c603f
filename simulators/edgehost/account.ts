// An account: its videos, keys, webhook URL, and the processing of videos.
import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../route.ts';
import type { Ground } from '../simulator.ts';
import { runSteps } from '../step-runner.ts';
import type { TusUpload } from '../tus.ts';
import type { Report } from '../webhook-sender.ts';
import { encodingSteps, isAnnounced, type Step } from './encoding-steps.ts';
import { badRequest, notFound } from './envelope.ts';
import type { SigningKey } from './signatures.ts';
import { type EdgehostVideo, editsIn, newVideo, webhookBody, wrongFields } from './video.ts';

export type EdgehostSettings = {
  readonly accountId: string;
  readonly apiToken: string;
  /** Maximum size of a form upload: 200 MB. */
  readonly maxFormBytes: number;
};
export type Webhook = { url: string | undefined; secret: string; modified: string };
type Download = { status: 'inprogress' | 'ready'; readonly url: string; percentComplete: number };
export type Entry = {
  shows: EdgehostVideo;
  readonly folder: string;
  readonly original: string;
  /** The URL of a form upload accepts one request. */
  formUpload: 'none' | 'open' | 'used';
  download?: Download;
};
export type Account = {
  readonly settings: EdgehostSettings;
  readonly ground: Ground;
  readonly webhook: Webhook;
  readonly keys: Map<string, SigningKey>;
  readonly entries: Map<string, Entry>;
  readonly uploads: Map<string, TusUpload>;
};

export const newSecret = () => randomBytes(20).toString('hex');

export function entryOf({ entries }: Account, uid = ''): Entry {
  const entry = entries.get(uid);
  if (!entry) throw notFound();
  return entry;
}

/** Rejects unsupported options. */
export function addVideo(
  { entries, ground }: Account,
  wishes: JsonObject,
  formUpload: Entry['formUpload'] = 'none',
): EdgehostVideo {
  demandRight(wishes);
  const shows = newVideo({ origin: ground.origin, now: ground.clock.now(), wishes });
  const folder = join(ground.folder, shows.uid);
  entries.set(shows.uid, { shows, folder, original: join(folder, 'original'), formUpload });
  return shows;
}

export function editVideo(account: Account, entry: Entry, wishes: JsonObject): void {
  demandRight(wishes);
  show(account, entry, editsIn(wishes));
}

export async function removeVideo(account: Account, entry: Entry): Promise<void> {
  account.entries.delete(entry.shows.uid);
  await rm(entry.folder, { recursive: true, force: true });
}

/** Moves the completed upload from `path`. */
export async function uploadFinished(account: Account, entry: Entry, path: string): Promise<void> {
  await mkdir(entry.folder, { recursive: true });
  await rename(path, entry.original);
  const { size } = await stat(entry.original);
  show(account, entry, {
    size,
    uploaded: new Date(account.ground.clock.now()).toISOString(),
    status: { ...entry.shows.status, state: 'queued' },
  });
  account.ground.clock.after(0, () => encode(account, entry));
}

async function encode(account: Account, entry: Entry): Promise<void> {
  const { ground, entries } = account;
  const { uid, maxDurationSeconds } = entry.shows;
  const fault = ground.faults.forEncoding(uid, ['never_finish', 'fail', 'recover', 'partial']);
  const facts = await ground.render({ source: entry.original, folder: entry.folder, master: 'video.m3u8' });
  const take = async (step: Step) => {
    show(account, entry, step);
    if (isAnnounced(step)) await ground.webhooks.send(reportOf(account, uid, step.status.state));
  };
  runSteps({
    ...ground,
    steps: encodingSteps({ facts, maxSeconds: maxDurationSeconds, fault }),
    isOver: () => entries.get(uid) !== entry,
    take,
  });
}

/** The state only, when the video does not exist or has another state. */
export function reportOf({ entries }: Account, video: string, kind: number | string): Report {
  const shows = entries.get(video)?.shows;
  const isTrue = shows?.status.state === kind;
  return {
    video,
    kind,
    body: isTrue
      ? webhookBody(shows)
      : JSON.stringify({ uid: video, readyToStream: kind === 'ready', status: { state: kind } }),
  };
}

function show({ ground }: Account, entry: Entry, change: Partial<EdgehostVideo>): void {
  entry.shows = { ...entry.shows, ...change, modified: new Date(ground.clock.now()).toISOString() };
}

function demandRight(wishes: JsonObject): void {
  const wrong = wrongFields(wishes);
  if (wrong.length > 0) throw badRequest(`invalid ${wrong.join(', ')}`);
}
