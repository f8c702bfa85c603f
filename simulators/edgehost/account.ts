// An account: its videos, keys, webhook URL, and the processing of videos.
import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../route.ts';
import type { ProviderContext } from '../simulator.ts';
import { runSteps } from '../clock.ts';
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
  /** Storage of the account: videos, and reservations of open uploads. */
  readonly storageMinutes: number;
};
export type Webhook = { url: string | undefined; secret: string; modified: string };
type Download = { status: 'inprogress' | 'ready'; readonly url: string; percentComplete: number };
export type EdgehostCaption = {
  readonly language: string;
  readonly label: string;
  readonly generated: boolean;
  readonly status: 'ready';
};

export type Entry = {
  video: EdgehostVideo;
  readonly folder: string;
  readonly original: string;
  /** The URL of a form upload accepts one request. */
  formUpload: 'none' | 'open' | 'used';
  download?: Download;
  captions: readonly EdgehostCaption[];
};
export type Account = {
  readonly settings: EdgehostSettings;
  readonly context: ProviderContext;
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
  { entries, context }: Account,
  options: JsonObject,
  formUpload: Entry['formUpload'] = 'none',
): EdgehostVideo {
  assertValid(options);
  const video = newVideo({ origin: context.origin, now: context.clock.now(), options });
  const folder = join(context.folder, video.uid);
  entries.set(video.uid, { video, folder, original: join(folder, 'original'), formUpload, captions: [] });
  return video;
}

export function editVideo(account: Account, entry: Entry, options: JsonObject): void {
  assertValid(options);
  updateVideo(account, entry, editsIn(options));
}

export async function removeVideo(account: Account, entry: Entry): Promise<void> {
  account.entries.delete(entry.video.uid);
  // A rendering that is not over writes into the folder meanwhile.
  await rm(entry.folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Moves the completed upload from `path`. */
export async function uploadFinished(account: Account, entry: Entry, path: string): Promise<void> {
  await mkdir(entry.folder, { recursive: true });
  await rename(path, entry.original);
  const { size } = await stat(entry.original);
  updateVideo(account, entry, {
    size,
    uploaded: new Date(account.context.clock.now()).toISOString(),
    status: { ...entry.video.status, state: 'queued' },
  });
  account.context.clock.after(0, () => encode(account, entry));
}

async function encode(account: Account, entry: Entry): Promise<void> {
  const { context, entries } = account;
  const { uid, maxDurationSeconds } = entry.video;
  const fault = context.faults.forEncoding(uid, ['never_finish', 'fail', 'recover', 'partial']);
  const facts = await context.render({ source: entry.original, folder: entry.folder, master: 'video.m3u8' });
  const runStep = async (step: Step) => {
    updateVideo(account, entry, step);
    if (isAnnounced(step)) await context.webhooks.send(reportOf(account, uid, step.status.state));
  };
  runSteps({
    ...context,
    steps: encodingSteps({ facts, maxSeconds: maxDurationSeconds, fault }),
    isReplaced: () => entries.get(uid) !== entry,
    runStep,
  });
}

/** The state only, when the video does not exist or has another state. */
export function reportOf({ entries }: Account, uid: string, kind: number | string): Report {
  const known = entries.get(uid)?.video;
  return {
    video: uid,
    kind,
    body:
      known?.status.state === kind
        ? webhookBody(known)
        : JSON.stringify({ uid, readyToStream: kind === 'ready', status: { state: kind } }),
  };
}

function updateVideo({ context }: Account, entry: Entry, change: Partial<EdgehostVideo>): void {
  entry.video = { ...entry.video, ...change, modified: new Date(context.clock.now()).toISOString() };
}

function assertValid(options: JsonObject): void {
  const wrong = wrongFields(options);
  if (wrong.length > 0) throw badRequest(`invalid ${wrong.join(', ')}`);
}
