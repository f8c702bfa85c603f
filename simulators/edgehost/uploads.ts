// Upload endpoints of edgehost: one-time form uploads and tus, created with the server's token and then used
// without it.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Call, header, type JsonObject, readBody, readJson, type Route } from '../route.ts';
import {
  announcedLength,
  appendToUpload,
  type Chunk,
  createUpload,
  type TusRules,
  tusCapabilities,
  uploadMetadata,
  uploadOffset,
} from '../tus.ts';
import { type Account, type Entry, entryOf, uploadFinished } from './account.ts';
import { badRequest, failure, success } from './envelope.ts';
import { type ApiRoute, apiRoutes } from './guard.ts';
import { addUpload } from './storage.ts';

const MAX_BYTES = 30_000_000_000;
const CHUNK = { min: 5_242_880, max: 209_715_200, unit: 262_144 } as const;
/** Names in Upload-Metadata that set options; all others describe the video. */
const SETTINGS = [
  'maxdurationseconds',
  'expiry',
  'requiresignedurls',
  'allowedorigins',
  'thumbnailtimestamppct',
  'watermark',
  'scheduleddeletion',
];
const FORM_OVERHEAD = 65_536;

export function uploadRoutes(account: Account): Route[] {
  const rules: TusRules = {
    uploads: account.uploads,
    folder: account.context.folder,
    maxBytes: MAX_BYTES,
    location: (id) => `${account.context.origin}/tus/${id}`,
    refusal: chunkProblem,
    finished: ({ video, path }) =>
      account.context.clock.after(0, async () => {
        const entry = account.entries.get(video);
        // The video may have been deleted meanwhile.
        if (entry) await uploadFinished(account, entry, path);
      }),
  };
  const tus = { group: 'upload', path: /^\/tus\/(?<upload>[\w-]+)$/ } as const;
  const created: readonly ApiRoute[] = [
    ['direct-upload', 'POST', '/direct_upload', openForm],
    ['tus-create', 'POST', '/?', (_, call) => openTus(account, rules, call)],
  ];
  return [
    ...apiRoutes(account, created),
    {
      name: 'form',
      group: 'upload',
      method: 'POST',
      path: /^\/upload\/(?<uid>[0-9a-f]{32})$/,
      run: (call) => takeForm(account, call),
    },
    { ...tus, name: 'tus-options', method: 'OPTIONS', run: () => tusCapabilities(rules) },
    { ...tus, name: 'tus-head', method: 'HEAD', run: (call) => uploadOffset(rules, call) },
    { ...tus, name: 'tus-patch', method: 'PATCH', run: (call) => appendToUpload(rules, call) },
  ];
}

async function openForm(account: Account, call: Call) {
  const options = await readJson(call);
  if (options['maxDurationSeconds'] === undefined) throw badRequest('maxDurationSeconds is required');
  const { uid, scheduledDeletion } = addUpload(account, { ...parseCreator(call), ...options }, 'open');
  return success({ uploadURL: `${call.origin}/upload/${uid}`, uid, watermark: null, scheduledDeletion });
}

async function takeForm(account: Account, call: Call) {
  const entry = entryOf(account, call.params['uid']);
  assertFormOpen(account, entry);
  entry.formUpload = 'used';
  const file = await readFormFile(call, account.settings.maxFormBytes);
  if (!file) return failure(400, 10005, 'Bad Request: the form has no field `file`');
  if (file.size > account.settings.maxFormBytes) return failure(413, 10006, 'Request entity too large');
  const path = join(account.context.folder, `upload-${randomUUID()}`);
  await writeFile(path, file.stream());
  entry.video = {
    ...entry.video,
    meta: { name: file.name, filename: file.name, filetype: file.type, ...entry.video.meta },
  };
  await uploadFinished(account, entry, path);
  return { status: 200 };
}

function assertFormOpen({ context }: Account, { formUpload, video }: Entry): void {
  if (formUpload !== 'open') throw badRequest('this upload URL was used already');
  if (Date.parse(video.uploadExpiry ?? '') < context.clock.now())
    throw badRequest('this upload URL has expired');
}

/** Reads the whole form into memory, because it is small. */
export async function readFormFile(call: Call, maxBytes: number): Promise<File | undefined> {
  const body = await readBody(call, maxBytes + FORM_OVERHEAD);
  try {
    const form = await new Response(new Uint8Array(body), {
      headers: { 'Content-Type': header(call, 'Content-Type') ?? '' },
    }).formData();
    const file = form.get('file');
    return file instanceof File ? file : undefined;
  } catch {
    return undefined; // An invalid form counts as a form without a file.
  }
}

async function openTus(account: Account, rules: TusRules, call: Call) {
  announcedLength(rules, call);
  const { uid } = addUpload(account, {
    ...parseCreator(call),
    ...parseOptions(uploadMetadata(header(call, 'Upload-Metadata') ?? '')),
  });
  const response = await createUpload(rules, call, uid);
  return { ...response, headers: { ...response.headers, 'stream-media-id': uid } };
}

function parseOptions(metadata: ReadonlyMap<string, string>): JsonObject {
  const lower = new Map([...metadata].map(([key, value]) => [key.toLowerCase(), value]));
  const seconds = lower.get('maxdurationseconds');
  const expiry = lower.get('expiry');
  const origins = lower.get('allowedorigins');
  const meta = Object.fromEntries([...metadata].filter(([key]) => !SETTINGS.includes(key.toLowerCase())));
  return {
    meta,
    requireSignedURLs: lower.has('requiresignedurls'),
    ...(seconds === undefined ? {} : { maxDurationSeconds: Number(seconds) }),
    ...(expiry === undefined ? {} : { expiry }),
    ...(origins === undefined ? {} : { allowedOrigins: origins.split(',') }),
  };
}

function parseCreator(call: Call): JsonObject {
  const creator = header(call, 'Upload-Creator');
  return creator === undefined ? {} : { creator };
}

function chunkProblem({ size, offset, length }: Chunk): string | undefined {
  if (size > CHUNK.max) return `A chunk has at most ${CHUNK.max} bytes`;
  if (offset + size >= length) return undefined;
  if (size < CHUNK.min) return `A chunk has at least ${CHUNK.min} bytes`;
  return size % CHUNK.unit === 0 ? undefined : `A chunk is a multiple of ${CHUNK.unit} bytes`;
}
