// Uploads and imports of this page. They go on while people look at other screens.
import type { UploadHandle, UploadOptions, UploadProgress } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useSyncExternalStore } from 'react';
import { mediary } from './mediary.ts';

export type Upload = {
  readonly key: number;
  /** Of the file, with its folder, or the URL. */
  readonly name: string;
  readonly size: number | undefined;
  readonly state: UploadHandle['state'];
  readonly progress: UploadProgress | undefined;
  readonly assetId: string | undefined;
  readonly error: unknown;
  /** Undefined for an import: the service itself reads the bytes. */
  readonly handle: UploadHandle | undefined;
  /** Another try in the same row. */
  readonly retry: () => void;
};

export type UploadSettings = Pick<UploadOptions, 'visibility' | 'tags'> & {
  /** Undefined: that of the session. */
  readonly owner?: string | undefined;
};

const CONCURRENCY = 3;
const queue = mediary.media.createUploadQueue({ concurrency: CONCURRENCY });

let uploads: readonly Upload[] = [];
const listeners = new Set<() => void>();

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useUploads = (): readonly Upload[] => useSyncExternalStore(subscribe, () => uploads);

function change(next: readonly Upload[]): void {
  uploads = next;
  for (const listener of listeners) listener();
}

const update = (key: number, members: Partial<Upload>): void =>
  change(uploads.map((upload) => (upload.key === key ? { ...upload, ...members } : upload)));

/** The owner of what operators upload, where they name none. */
export const OPERATORS_OWNER = 'console';

/** Users are the owners of what they upload. */
const ownerIn = ({ kind, owner_user_id: own }: ConsoleSession, { owner }: UploadSettings) =>
  kind === 'user' ? {} : { ownerUserId: owner ?? own ?? OPERATORS_OWNER };

/** Whose uploads the list has. */
let uploader = '';
const identify = ({ kind, owner_user_id: owner }: ConsoleSession): string => JSON.stringify([kind, owner]);

/** Uploads of pages of assets, by their assets. They go on while the page is closed. */
const sent = new Map<string, AbortController>();

type SentFile = { readonly assetId: string; readonly session: ConsoleSession };

/** Runs an upload of the page of an asset. Undefined if it was cancelled. */
export async function sendFile<T>(
  { assetId, session }: SentFile,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  uploader = identify(session);
  const controller = new AbortController();
  sent.set(assetId, controller);
  try {
    return await send(controller.signal);
  } catch (error) {
    if (controller.signal.aborted) return undefined;
    throw error;
  } finally {
    sent.delete(assetId);
  }
}

/** False if no file is sent. */
export function cancelFile(assetId: string): boolean {
  const controller = sent.get(assetId);
  controller?.abort();
  return controller !== undefined;
}

/** The next person sees nothing of the list, and no file that waits is created with another cookie. */
export function clearUploads(): void {
  for (const { handle } of uploads) handle?.cancel();
  for (const controller of sent.values()) controller.abort();
  change([]);
}

/** Somebody who signs in again after a session has ended keeps the list. */
export function clearUploadsOfOthers(session: ConsoleSession): void {
  if (identify(session) !== uploader) clearUploads();
}

let lastKey = 0;

function addRow(row: Pick<Upload, 'name' | 'size'>, start: (key: number) => void): void {
  lastKey += 1;
  const key = lastKey;
  const fresh = { progress: undefined, assetId: undefined, error: undefined, handle: undefined } as const;
  const retry = (): void => {
    update(key, { ...fresh, state: 'waiting' });
    start(key);
  };
  change([{ ...row, ...fresh, key, state: 'waiting', retry }, ...uploads]);
  start(key);
}

export function addUploads(
  session: ConsoleSession,
  files: readonly File[],
  settings: UploadSettings = {},
): void {
  uploader = identify(session);
  const { visibility, tags } = settings;
  for (const file of files)
    addRow({ name: file.webkitRelativePath || file.name, size: file.size }, (key) => {
      const handle = queue.add(file, {
        filename: file.name,
        visibility,
        tags,
        ...ownerIn(session, settings),
        onProgress: (progress) => update(key, { progress, state: handle.state }),
      });
      update(key, { handle, state: handle.state });
      handle.done.then(
        (asset) => update(key, { assetId: asset.id, state: handle.state }),
        (error: unknown) => update(key, { error, state: handle.state }),
      );
    });
}

export function addImports(
  session: ConsoleSession,
  urls: readonly string[],
  settings: UploadSettings = {},
): void {
  uploader = identify(session);
  const { visibility, tags } = settings;
  for (const url of urls)
    addRow({ name: url, size: undefined }, (key) => {
      mediary.media.import({ url, visibility, tags }, ownerIn(session, settings)).then(
        (asset) => update(key, { assetId: asset.id, state: 'done' }),
        (error: unknown) => update(key, { error, state: 'failed' }),
      );
    });
}

export function pauseUpload({ key, handle }: Upload): void {
  handle?.pause();
  if (handle) update(key, { state: handle.state });
}

export function resumeUpload({ key, handle }: Upload): void {
  handle?.resume();
  if (handle) update(key, { state: handle.state });
}

/** Removes it from the list; one that still sends ends. */
export function removeUpload({ key, handle }: Upload): void {
  handle?.cancel();
  change(uploads.filter((upload) => upload.key !== key));
}
