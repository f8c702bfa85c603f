// Options of an upload, and the progress that it reports.
import type { ExistingAssetRule } from '../api/enums.ts';
import type { CreateUploadRequest, ReplaceFileRequest, UploadTarget } from '../api/uploads.ts';
import type { CallOptions } from '../transport.ts';
import type { ResumeStore } from './resume-store.ts';

export type UploadProgress = {
  /** Falls when a request that was interrupted starts again. */
  bytesSent: number;
  totalBytes: number;
  /** `preparing`: checksum and creation of the asset. `completing`: the service checks the bytes. */
  phase: 'preparing' | 'uploading' | 'completing';
  /** Mean of the last seconds; null until there is one. */
  bytesPerSecond: number | null;
  /** At this speed; null while it is not known. */
  secondsLeft: number | null;
};

export type UploadOptions = CallOptions & {
  /** Default: the name of the `File`. Required for a `Blob`. */
  filename?: string | undefined;
  /** Media type. Default: that of the file, else of the extension of its name. */
  mimeType?: string | undefined;
  /** Default `private`. */
  visibility?: CreateUploadRequest['visibility'];
  /** Your own id of the asset, unique among the assets of the owner. */
  externalId?: string | undefined;
  /**
   * If the owner has an asset with this `externalId`: `fail` (default), or `return`: upload its bytes where
   * they have not come, and return it.
   */
  ifExists?: ExistingAssetRule | undefined;
  /**
   * The id of an asset: the file takes the place of the asset's file once it is ready. `upload` returns the
   * replacement, and `waitUntilReady` the asset. Options about the asset are ignored.
   */
  replaces?: string | undefined;
  /** With `replaces`: what the replacement takes over from the current file. Default: nothing. */
  keep?: ReplaceFileRequest['keep'];
  /**
   * The id of a failed asset: its next attempt, which `retry` opens, gets the file. Options about the asset
   * are ignored. Upload tokens cannot do so.
   */
  retryOf?: string | undefined;
  title?: string | undefined;
  tags?: string[] | undefined;
  /** Your own JSON, at most 16 KiB. */
  metadata?: Record<string, unknown> | undefined;
  /** Of an image: the part that crops keep. Default: the center. */
  focalPoint?: CreateUploadRequest['focal_point'];
  /** Who may play the asset. Default: everybody that its visibility allows. */
  access?: CreateUploadRequest['access'];
  /** Of a video. Default: those of the file. */
  chapters?: CreateUploadRequest['chapters'];
  /** When the asset is deleted for good. An upload that continues keeps the time of its asset. */
  expiresAt?: string | Date | undefined;
  /** Provider of a video. Default: that of the service. */
  provider?: string | undefined;
  /** Duration of a video in milliseconds, if you know it; `edgehost` reserves storage for it. */
  durationMs?: number | undefined;
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /**
   * Called when the asset of the upload exists, also when the upload continues one. A second call names
   * another asset: the first one could not go on.
   */
  onAsset?: ((assetId: string) => void) | undefined;
  /**
   * The service refuses other bytes than those of this SHA-256. `true`: the SDK computes it, in Node for
   * files of every size, elsewhere up to 64 MiB. Default false.
   */
  checksum?: boolean | string | undefined;
  /** With a checksum: return the owner's asset that has the same bytes, if there is one. */
  deduplicate?: boolean | undefined;
  /** The protocol to prefer where the service offers several. Default: its own order. */
  protocol?: UploadTarget['protocol'] | undefined;
  /**
   * How the upload continues after an interruption or a reload: call `upload` again with the same file.
   * `key` names the file; default: name, size and time of a `File`; a `Blob` has no default. `store`: default
   * `localStorage` in browsers, the memory elsewhere and where that is full or blocked. `false`: always
   * start anew.
   */
  resume?: false | { key?: string | undefined; store?: ResumeStore | undefined } | undefined;
};
