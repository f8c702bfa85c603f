// The subset of tus 1.0.0 that both providers support: core, creation and creation-with-upload.
import { randomUUID } from 'node:crypto';
import { open, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type RouteResponse, type Call, header, json, ResponseError } from './route.ts';

export type TusUpload = {
  readonly id: string;
  readonly video: string;
  readonly path: string;
  readonly length: number;
  readonly metadata: string;
  offset: number;
  busy: boolean;
};
export type Chunk = { readonly size: number; readonly offset: number; readonly length: number };
export type TusRules = {
  readonly uploads: Map<string, TusUpload>;
  readonly folder: string;
  readonly maxBytes: number;
  readonly location: (id: string) => string;
  /** Reason for rejecting a chunk, if any. */
  readonly refusal?: (chunk: Chunk) => string | undefined;
  readonly finished: (upload: TusUpload) => void;
};

const VERSION = { 'Tus-Resumable': '1.0.0' };
const CHUNK_TYPE = 'application/offset+octet-stream';

const failure = (
  status: number,
  message: string,
  more: Readonly<Record<string, string>> = {},
): ResponseError => {
  const answer = json(status, { message });
  return new ResponseError({ ...answer, headers: { ...answer.headers, ...VERSION, ...more } });
};

export const tusCapabilities = ({ maxBytes }: TusRules): RouteResponse => ({
  status: 204,
  headers: {
    ...VERSION,
    'Tus-Version': '1.0.0',
    'Tus-Extension': 'creation,creation-with-upload',
    'Tus-Max-Size': String(maxBytes),
  },
});

/** Validates a creation before anything is stored. */
export function announcedLength({ maxBytes }: TusRules, call: Call): number {
  assertVersion(call);
  const length = parseInteger(call, 'Upload-Length');
  if (length === undefined) throw failure(400, 'Upload-Length is missing');
  if (length > maxBytes) throw failure(413, `Upload-Length is over ${maxBytes}`);
  return length;
}

export async function createUpload(rules: TusRules, call: Call, video: string): Promise<RouteResponse> {
  const length = announcedLength(rules, call);
  const hasBytes = header(call, 'Content-Type') === CHUNK_TYPE;
  if (hasBytes) assertChunk(rules, call, { offset: 0, length });
  const id = randomUUID();
  const upload = {
    id,
    video,
    path: join(rules.folder, `upload-${id}`),
    length,
    metadata: header(call, 'Upload-Metadata') ?? '',
    offset: 0,
    busy: false,
  };
  await writeFile(upload.path, '');
  rules.uploads.set(id, upload);
  if (hasBytes) await takeBytes(rules, upload, call);
  else if (length === 0) rules.finished(upload);
  return {
    status: 201,
    headers: {
      ...VERSION,
      Location: rules.location(id),
      ...(hasBytes ? { 'Upload-Offset': String(upload.offset) } : {}),
    },
  };
}

export function uploadOffset({ uploads }: TusRules, call: Call): RouteResponse {
  const { offset, length, metadata } = known(uploads, call);
  const shown = {
    'Upload-Offset': String(offset),
    'Upload-Length': String(length),
    'Cache-Control': 'no-store',
  };
  return {
    status: 200,
    headers: { ...VERSION, ...shown, ...(metadata ? { 'Upload-Metadata': metadata } : {}) },
  };
}

export async function appendToUpload(rules: TusRules, call: Call): Promise<RouteResponse> {
  const upload = known(rules.uploads, call);
  if (header(call, 'Content-Type') !== CHUNK_TYPE) throw failure(415, `Content-Type must be ${CHUNK_TYPE}`);
  if (parseInteger(call, 'Upload-Offset') !== upload.offset)
    throw failure(409, 'Upload-Offset is not where the upload stands', {
      'Upload-Offset': String(upload.offset),
    });
  assertChunk(rules, call, upload);
  await takeBytes(rules, upload, call);
  return { status: 204, headers: { ...VERSION, 'Upload-Offset': String(upload.offset) } };
}

/** Bytes that arrived before a connection broke are stored. */
async function takeBytes(rules: TusRules, upload: TusUpload, call: Call): Promise<void> {
  if (upload.busy) throw failure(423, 'Another request writes to this upload');
  const start = upload.offset;
  const wasFinished = start === upload.length;
  upload.busy = true;
  try {
    await using file = await open(upload.path, 'a');
    for await (const part of call.body) {
      if (upload.offset + part.length > upload.length) throw failure(413, 'More bytes than announced');
      await file.appendFile(part);
      upload.offset += part.length;
    }
  } finally {
    upload.busy = false;
  }
  if (parseInteger(call, 'Content-Length') === undefined) await assertReceived(rules, upload, start);
  if (upload.offset === upload.length && !wasFinished) rules.finished(upload);
}

/** The size of a chunk that did not announce it is known at its end. A rejected chunk is dropped. */
async function assertReceived({ refusal }: TusRules, upload: TusUpload, start: number): Promise<void> {
  const problem = refusal?.({ offset: start, length: upload.length, size: upload.offset - start });
  if (problem === undefined) return;
  await truncate(upload.path, start);
  upload.offset = start;
  throw failure(400, problem);
}

/** Parses `key base64, key` to names and values. */
export function uploadMetadata(text: string): ReadonlyMap<string, string> {
  const pairs = text
    .split(',')
    .map((pair) => pair.trim().split(' '))
    .filter(([key]) => key);
  return new Map(pairs.map(([key, value]) => [key ?? '', Buffer.from(value ?? '', 'base64').toString()]));
}

function known(uploads: TusRules['uploads'], call: Call): TusUpload {
  assertVersion(call);
  const upload = uploads.get(call.params['upload'] ?? '');
  if (!upload) throw failure(404, 'There is no such upload');
  return upload;
}

function assertVersion(call: Call): void {
  if (header(call, 'Tus-Resumable') !== '1.0.0')
    throw failure(412, 'Tus-Resumable must be 1.0.0', { 'Tus-Version': '1.0.0' });
}

function assertChunk({ refusal }: TusRules, call: Call, place: Omit<Chunk, 'size'>): void {
  const size = parseInteger(call, 'Content-Length');
  const problem = size === undefined ? undefined : refusal?.({ ...place, size });
  if (problem !== undefined) throw failure(400, problem);
}

function parseInteger(call: Call, name: string): number | undefined {
  const text = header(call, name) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
