// Saves a download: into a part file that is verified, then renamed.
import { existsSync } from 'node:fs';
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, link, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandContext } from './context.ts';
import { CliError, EXIT, usageError } from './exit-codes.ts';
import { describeCause } from './failure.ts';
import { createProgress } from './progress.ts';
import type { Stream } from './output.ts';

type Download = {
  readonly url: string;
  /** As the API names it. */
  readonly filename: string;
  /** `-` is stdout. */
  readonly output: string | undefined;
  readonly isForced: boolean;
  readonly sha256: string | null;
};

type SavedFile = { readonly file: string; readonly size_bytes: number; readonly sha256: string };

/** Undefined where the bytes went to stdout. */
export async function saveDownload(
  context: CommandContext,
  download: Download,
): Promise<SavedFile | undefined> {
  const { io, signal } = context;
  const progress = createProgress(context.output, download.filename);
  const onBytes = (received: number, total: number): void => progress.bytes('downloading', received, total);
  try {
    if (download.output === '-') {
      const received = await receive(download.url, {
        signal,
        onBytes,
        write: (bytes) => writeTo(io.stdout, bytes),
      });
      assertChecksum(received, download);
      return undefined;
    }
    return await saveFile({ download, signal, onBytes });
  } finally {
    progress.stop();
  }
}

type Saving = {
  readonly download: Download;
  readonly signal: AbortSignal;
  readonly onBytes: (received: number, total: number) => void;
};

async function saveFile({ download, signal, onBytes }: Saving): Promise<SavedFile> {
  const file = download.output ?? toSafeName(download.filename);
  if (!download.isForced && existsSync(file)) throw existsError(file);
  await makeFolder(dirname(file));
  const part = `${file}.${process.pid}.part`;
  const handle = await openPart(part);
  try {
    const received = await receive(download.url, {
      signal,
      onBytes,
      write: (bytes, position) => writeFully(handle, bytes, position),
    });
    assertChecksum(received, download);
    await handle.sync();
    await handle.close();
    await publish(part, file, download.isForced);
    return { file, size_bytes: received.bytes, sha256: received.sha256 };
  } finally {
    await handle.close();
    await rm(part, { force: true });
  }
}

/** A name of the API must not lead into another folder or hide the file. */
export function toSafeName(filename: string): string {
  const name = basename(filename.replaceAll('\\', '/')).replace(/^\.+/, '');
  return name || 'download';
}

const makeFolder = (folder: string): Promise<unknown> =>
  mkdir(folder, { recursive: true }).catch((error: Error) => {
    throw usageError(`${folder} cannot be created: ${error.message}`);
  });

const openPart = (part: string): Promise<FileHandle> =>
  open(part, 'wx').catch((error: Error) => {
    throw usageError(`${part} cannot be written: ${error.message}`);
  });

/** `link` fails where the file exists, also when another process has just created it. */
async function publish(part: string, file: string, isForced: boolean): Promise<void> {
  if (isForced) return rename(part, file);
  await link(part, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw existsError(file);
  });
}

const existsError = (file: string): CliError =>
  usageError(`${file} exists.`, 'Name another file with -o, or replace it with --force.');

async function writeFully(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, offset, bytes.length - offset, position + offset);
    offset += bytesWritten;
  }
}

const writeTo = (stream: Stream, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

type Receiving = {
  readonly signal: AbortSignal;
  readonly onBytes: (received: number, total: number) => void;
  /** `position`: that of the bytes in the download. */
  readonly write: (bytes: Uint8Array, position: number) => Promise<void>;
};
type Received = { readonly bytes: number; readonly sha256: string };
type DownloadState = { readonly hash: Hash; bytes: number; total: number; etag: string | null };

/** Attempts without a byte. */
const MAX_ATTEMPTS = 5;
const RETRY_MS = 1000;

/** A connection that breaks is continued where it broke. */
async function receive(url: string, receiving: Receiving): Promise<Received> {
  const state: DownloadState = { hash: createHash('sha256'), bytes: 0, total: 0, etag: null };
  for (let attempt = 1; ; attempt += 1) {
    const before = state.bytes;
    try {
      await receiveRest(url, state, receiving);
      return { bytes: state.bytes, sha256: state.hash.digest('hex') };
    } catch (error) {
      receiving.signal.throwIfAborted();
      if (error instanceof CliError) throw error;
      if (state.bytes > before) attempt = 1;
      if (attempt === MAX_ATTEMPTS) throw toDownloadError(error);
      await sleep(RETRY_MS * attempt, undefined, { signal: receiving.signal });
    }
  }
}

/** Broken connections are a TypeError of `fetch`. */
function toDownloadError(error: unknown): CliError {
  return new CliError(
    `The download failed ${MAX_ATTEMPTS} times: ${describeCause(error)}`,
    error instanceof TypeError ? EXIT.unreachable : EXIT.failed,
  );
}

async function receiveRest(
  url: string,
  state: DownloadState,
  { signal, onBytes, write }: Receiving,
): Promise<void> {
  const response = await fetch(url, { headers: toRangeHeaders(state), signal });
  assertContinues(response, state);
  state.etag = response.headers.get('etag');
  state.total = state.bytes + Number(response.headers.get('content-length') ?? 0);
  for await (const bytes of response.body ?? []) {
    await write(bytes, state.bytes).catch((error: Error) => {
      // Another attempt would find the same disk, and the bytes that it has taken.
      throw new CliError(`The download cannot be written: ${error.message}`, EXIT.failed);
    });
    state.hash.update(bytes);
    state.bytes += bytes.length;
    onBytes(state.bytes, Math.max(state.total, state.bytes));
  }
}

const toRangeHeaders = ({ bytes, etag }: DownloadState): Record<string, string> =>
  bytes === 0 ? {} : { Range: `bytes=${bytes}-`, ...(etag && { 'If-Range': etag }) };

function assertContinues({ status }: Response, { bytes }: DownloadState): void {
  if (status >= 500) throw new Error(`The download is answered with status ${status}.`);
  const isExpected = status === (bytes === 0 ? 200 : 206);
  if (isExpected) return;
  const exitCode = status === 401 || status === 403 ? EXIT.auth : EXIT.failed;
  throw new CliError(
    `The download is answered with status ${status}.`,
    status === 404 ? EXIT.notFound : exitCode,
  );
}

function assertChecksum({ sha256 }: Received, { sha256: expected, filename }: Download): void {
  if (expected !== null && expected !== sha256)
    throw new CliError(`${filename} has the SHA-256 ${sha256}, but the asset has ${expected}.`, EXIT.failed);
}
