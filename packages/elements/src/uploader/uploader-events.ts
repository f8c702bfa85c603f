// What the events of the element carry.
import type { Asset, UploadProgress } from '@mediary/client';
import type { UploadItem } from './upload-item.ts';

/** `event.detail` of every `mediary-upload-…` event. */
export type UploadEventDetail = {
  readonly filename: string;
  /** Absent after a reload, when the file need not be chosen again. */
  readonly file: File | undefined;
  /** Undefined until the asset exists. */
  readonly assetId: string | undefined;
  /** As it was last read; undefined before `mediary-upload-uploaded`. */
  readonly asset: Asset | undefined;
  /** Percent of the step: of the bytes, then of the encoding. */
  readonly percent: number;
  /** Of the bytes. */
  readonly progress: UploadProgress | undefined;
  /** Why it failed: a `MediaryError` where the service or the network is the reason. */
  readonly error: unknown;
};

export type UploadEvent = CustomEvent<UploadEventDetail>;

export type UploadEventMap = {
  'mediary-upload-start': UploadEvent;
  'mediary-upload-progress': UploadEvent;
  'mediary-upload-uploaded': UploadEvent;
  'mediary-upload-ready': UploadEvent;
  'mediary-upload-error': UploadEvent;
};

export function toEventDetail(item: UploadItem): UploadEventDetail {
  const { name: filename, file, assetId, asset, progress, error } = item;
  return { filename, file, assetId, asset, percent: percentOf(item), progress, error };
}

/** Of the step that runs: the bytes, then the encoding. */
export function percentOf({ phase, isUploaded, asset, progress, bytesBefore, size }: UploadItem): number {
  if (phase === 'ready') return 100;
  if (isUploaded) return asset?.progress ?? 0;
  return size === 0 ? 0 : (100 * (progress?.bytesSent ?? bytesBefore)) / size;
}
