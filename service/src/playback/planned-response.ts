// What a request for a playback file is answered with.
import type { ManifestRequest } from '../encoding/packaging/manifests.ts';
import type { ObjectKey } from '../storage/object-key.ts';
import type { SegmentCipher } from '../storage/segment-cipher.ts';

export type FileHeaders = Readonly<Record<string, string>>;

export type PlannedObject = {
  readonly kind: 'object';
  readonly key: ObjectKey;
  readonly etag: string;
  readonly headers: FileHeaders;
  /** Whether its bytes may be cached in memory. */
  readonly isCacheable: boolean;
  /** Whether its headers may be reused for the same URL. */
  readonly isRepeatable: boolean;
  readonly cipher?: SegmentCipher;
  /** The name under which browsers save the file. */
  readonly downloadName?: string | undefined;
};

/** A manifest of the published run, which is rendered. */
export type PlannedManifest = {
  readonly kind: 'manifest';
  readonly manifest: ManifestRequest;
  /** The run goes on. */
  readonly isGrowing: boolean;
  readonly headers: FileHeaders;
};

export type PlannedResponse =
  /** To a URL of others. */
  | { readonly kind: 'redirect'; readonly location: string }
  /** To a presigned URL of the store. */
  | {
      readonly kind: 'store-redirect';
      readonly presign: {
        readonly key: ObjectKey;
        readonly responseContentType: string;
        readonly responseCacheControl: string;
        readonly expiresInSeconds: number;
      };
      /** The next run replaces the file. */
      readonly isEntry: boolean;
      readonly downloadName: string | undefined;
    }
  /** The web server in front sends the bytes. */
  | {
      readonly kind: 'internal-redirect';
      readonly headers: FileHeaders;
      readonly downloadName: string | undefined;
    }
  | { readonly kind: 'segment-key'; readonly bytes: Uint8Array }
  | { readonly kind: 'text'; readonly text: string; readonly headers: FileHeaders }
  | PlannedObject
  | PlannedManifest;
