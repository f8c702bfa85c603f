// Uploads of this page. They go on while people look at other screens.
import type { UploadHandle, UploadProgress } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/console';
import { useSyncExternalStore } from 'react';
import { mediary } from './mediary.ts';

export type Upload = {
  readonly key: number;
  readonly file: File;
  readonly handle: UploadHandle;
  readonly progress: UploadProgress | undefined;
  readonly state: UploadHandle['state'];
  readonly assetId: string | undefined;
  readonly error: unknown;
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

let lastKey = 0;

export function addUploads(session: ConsoleSession, files: readonly File[], owner?: string): void {
  for (const file of files) addUpload(session, file, owner);
}

function addUpload(session: ConsoleSession, file: File, owner: string | undefined): void {
  lastKey += 1;
  const key = lastKey;
  const named = owner ?? session.owner_user_id ?? OPERATORS_OWNER;
  const handle = queue.add(file, {
    filename: file.name,
    ...(session.kind !== 'user' && { ownerUserId: named }),
    onProgress: (progress) => update(key, { progress, state: handle.state }),
  });
  const added = { key, file, handle, progress: undefined, assetId: undefined, error: undefined };
  change([{ ...added, state: handle.state }, ...uploads]);
  handle.done.then(
    (asset) => update(key, { assetId: asset.id, state: handle.state }),
    (error: unknown) => update(key, { error, state: handle.state }),
  );
}

export function pauseUpload({ key, handle }: Upload): void {
  handle.pause();
  update(key, { state: handle.state });
}

export function resumeUpload({ key, handle }: Upload): void {
  handle.resume();
  update(key, { state: handle.state });
}

/** Removes it from the list; one that still sends ends. */
export function removeUpload({ key, handle }: Upload): void {
  handle.cancel();
  change(uploads.filter((upload) => upload.key !== key));
}
