// One file of the list: what is known of it, and what it is doing.
import type { Asset, UploadHandle, UploadProgress } from '@mediary/client';

/**
 * `interrupted`: a page before this one sent it; the file has to be chosen again. `offline`: waits for the
 * network.
 */
export type UploadPhase =
  | 'interrupted'
  | 'waiting'
  | 'uploading'
  | 'paused'
  | 'offline'
  | 'completing'
  | 'encoding'
  | 'ready'
  | 'failed';

/** What tells one file from another, also after a reload. */
export type FileIdentity = { readonly name: string; readonly size: number; readonly lastModified: number };

export type UploadItem = FileIdentity & {
  readonly key: number;
  /** Undefined until it is chosen again. */
  file: File | undefined;
  phase: UploadPhase;
  progress: UploadProgress | undefined;
  /** Bytes that an earlier page had sent. */
  bytesBefore: number;
  assetId: string | undefined;
  /** The asset has failed and waits for the bytes of its next attempt. */
  isReopened: boolean;
  /** The service has all bytes. */
  isUploaded: boolean;
  /** The asset whose place a replacement takes: the replacement is deleted then. */
  versionOf: string | null;
  /** As the service last described it. */
  asset: Asset | undefined;
  thumbnail: string | undefined;
  /** Of a picture whose thumbnail the page may not read. */
  preview: ImageBitmap | undefined;
  /** Why it failed, or why the chosen file is not the one of this row. */
  problem: string | undefined;
  error: unknown;
  isRetryable: boolean;
  handle: UploadHandle | undefined;
  /** Ends everything that runs for the item. */
  controller: AbortController;
  stallTimer: ReturnType<typeof setTimeout> | undefined;
  /** Ends the wait for the network. */
  wake: () => void;
};

let lastKey = 0;

export function createItem(
  { name, size, lastModified }: FileIdentity,
  members: Partial<UploadItem>,
): UploadItem {
  lastKey += 1;
  return {
    key: lastKey,
    name,
    size,
    lastModified,
    file: undefined,
    phase: 'waiting',
    progress: undefined,
    bytesBefore: 0,
    assetId: undefined,
    isReopened: false,
    isUploaded: false,
    versionOf: null,
    asset: undefined,
    thumbnail: undefined,
    preview: undefined,
    problem: undefined,
    error: undefined,
    isRetryable: false,
    handle: undefined,
    controller: new AbortController(),
    stallTimer: undefined,
    wake: () => {},
    ...members,
  };
}

export const isSameFile = (one: FileIdentity, other: FileIdentity): boolean =>
  one.name === other.name && one.size === other.size && one.lastModified === other.lastModified;
