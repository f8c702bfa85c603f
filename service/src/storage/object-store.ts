// Port of the object store. Objects are complete or absent, and durable when `put` resolves.
import type { Readable } from 'node:stream';
import type { ObjectKey } from './object-key.ts';

/** Length and lower-case hex SHA-256 of a stored object, computed while it was received. */
export type StoredBytes = { readonly sizeBytes: number; readonly sha256: string };

/** First and last byte, both inclusive and within the object. */
export type ByteRange = { readonly start: number; readonly end: number };

export type ListedObject = {
  readonly key: ObjectKey;
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
};

/** `bytes` is undefined for objects larger than 1 MiB. */
export type ReadObject = { readonly sizeBytes: number; readonly bytes?: Uint8Array };

/** The reader must consume or destroy `body`. */
export type OpenObject = { readonly sizeBytes: number; readonly body: Readable };

/**
 * `exists`: the key is in use; `too_long`: more than `maxBytes`; `cut_short`: the source failed; `full`: no
 * space except the reserve; `lost`: bytes of a partial object are missing.
 */
export type ObjectStoreErrorReason = 'exists' | 'too_long' | 'cut_short' | 'full' | 'lost';

export class ObjectStoreError extends Error {
  readonly reason: ObjectStoreErrorReason;
  constructor(reason: ObjectStoreErrorReason, options?: ErrorOptions) {
    super(`object not stored: ${reason}`, options);
    this.reason = reason;
  }
}

/**
 * A request that a client sends to the store itself, exactly with these headers; `content-length` is set by
 * every HTTP client.
 */
export type PresignedRequest = {
  readonly method: 'GET' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Earlier than requested when the credentials of the service expire before. */
  readonly expiresAt: Date;
};

/** The store refuses a body of another length, type or SHA-256, and a key that is in use. */
type PresignedPut = {
  readonly key: ObjectKey;
  readonly contentType: string;
  readonly contentLength: number;
  /** Lower-case hex. */
  readonly sha256?: string | undefined;
  readonly expiresInSeconds: number;
};

/** The store adds the response headers. */
type PresignedGet = {
  readonly key: ObjectKey;
  readonly responseContentDisposition?: string;
  readonly responseContentType: string;
  /** Default: `private, no-store`. */
  readonly responseCacheControl?: string;
  readonly expiresInSeconds: number;
};

/** An object that a client sends in parts; it exists only after `completeMultipart`. */
export type MultipartUpload = { readonly key: ObjectKey; readonly uploadId: string };

export type StartedMultipart = MultipartUpload & { readonly startedAt: Date };

/** Every part but the last has at least 5 MiB and the length of the first. Numbers start at 1. */
type PresignedPart = MultipartUpload & {
  readonly partNumber: number;
  readonly contentLength: number;
  readonly sha256?: string | undefined;
  readonly expiresInSeconds: number;
};

export type StoredPart = { readonly partNumber: number; readonly etag: string; readonly sizeBytes: number };

/** Transfers between clients and the store that do not pass through the service. */
export type DirectUploads = {
  presignPut(put: PresignedPut): Promise<PresignedRequest>;
  presignGet(get: PresignedGet): Promise<PresignedRequest>;
  createMultipart(key: ObjectKey, contentType: string): Promise<MultipartUpload>;
  presignPart(part: PresignedPart): Promise<PresignedRequest>;
  /** The parts that the store has, by number; undefined when the upload does not exist (any more). */
  listParts(upload: MultipartUpload): Promise<readonly StoredPart[] | undefined>;
  /**
   * Can be repeated. Throws ObjectStoreError `exists` when the key is in use, `cut_short` when a part is
   * missing or too short, `lost` when the upload was aborted.
   */
  completeMultipart(upload: MultipartUpload, parts: readonly StoredPart[]): Promise<void>;
  /** Does nothing when the upload does not exist. */
  abortMultipart(upload: MultipartUpload): Promise<void>;
  /** Uploads in parts that were neither completed nor aborted, also those of `put`. */
  listMultiparts(prefix: ObjectKey): AsyncIterable<StartedMultipart>;
};

/**
 * One operation that was tried. `problem` is undefined when it works; `isRequired` is false for
 * recommendations.
 */
export type StoreFinding = {
  readonly operation: string;
  readonly problem?: string | undefined;
  readonly isRequired: boolean;
  /** What an operator has to change. */
  readonly fix: 'settings' | 'policy' | 'cors' | 'lifecycle' | 'store';
  /** With the fix `lifecycle`: all rules that the bucket is to have. */
  readonly configuration?: object | undefined;
};

/** The bytes of an object so far, as a call returned them and its caller recorded them. */
export type PartialObject = {
  readonly key: ObjectKey;
  /** 0 before the first call. */
  readonly length: number;
  /** What the store needs to go on, as JSON; null before the first call. */
  readonly state: unknown;
};

/**
 * Objects that are written in several steps. The caller makes sure that one process at a time writes an
 * object.
 */
export type PartialObjects = {
  /**
   * Writes all bytes behind a partial object, up to a length of `maxBytes`, which is the same in all calls.
   * Returns the longer one when it would survive a power failure. What a call wrote that was interrupted, or
   * not recorded, is replaced. Throws ObjectStoreError `full`, `cut_short`, `too_long`, or `lost` if bytes of
   * the partial object are missing.
   */
  append(partial: PartialObject, bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<PartialObject>;
  /**
   * Makes a partial object an object: complete, durable, under its key. Does nothing if it is one already.
   * Throws ObjectStoreError `lost`.
   */
  finish(partial: PartialObject): Promise<void>;
  /** Deletes the written bytes, but not an object. */
  discard(key: ObjectKey): Promise<void>;
};

/** `source_refused`: it is outside of ADOPT_SOURCES, or belongs to the service. */
export type SourceErrorReason =
  | 'source_invalid'
  | 'source_refused'
  | 'source_missing'
  | 'source_unreadable'
  | 'source_changed';

/** The message is a sentence for operators, about the source that they named. */
export class SourceError extends Error {
  readonly reason: SourceErrorReason;
  constructor(reason: SourceErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** An object that the operator stored. `version` changes with its bytes. */
export type SourceObject = {
  /** `s3://<bucket>/<key>` or `file:///<path>`. */
  readonly url: string;
  readonly sizeBytes: number;
  readonly version: string;
  readonly contentType: string | null;
};

type SourceCopy = {
  readonly to: ObjectKey;
  /** Whether the caller deletes the source afterwards: a disk then needs no second copy of the bytes. */
  readonly isMove: boolean;
  readonly signal: AbortSignal;
};

/** `sha256` is null where the service did not see the bytes; `version` is that of the source now. */
export type CopiedSource = Pick<SourceObject, 'sizeBytes' | 'version'> & { readonly sha256: string | null };

/** Objects below ADOPT_SOURCES: of another bucket or prefix, or of a folder. All throw SourceError. */
export type SourceObjects = {
  find(url: string): Promise<SourceObject>;
  /** Copies this version of the source to a key that is free; durable when it resolves. */
  copy(source: SourceObject, copy: SourceCopy): Promise<CopiedSource>;
  /** Deletes this version of the source. False if it is gone, or has other bytes now. */
  remove(source: Pick<SourceObject, 'url' | 'version'>): Promise<boolean>;
};

/** Chunks that are in memory already, or that arrive over time. */
export type ObjectBytes = readonly Uint8Array[] | AsyncIterable<Uint8Array>;

export type ObjectStore = {
  /**
   * Stores all bytes under a new key, or nothing. Resolves when the object would survive a power failure.
   * Throws ObjectStoreError.
   */
  put(key: ObjectKey, bytes: ObjectBytes, maxBytes: number): Promise<StoredBytes>;
  /**
   * The same for bytes in memory, under a key that nobody reads before the caller has recorded it: a process
   * that is killed may leave a part of the object.
   */
  putSmall(key: ObjectKey, chunks: readonly Uint8Array[]): Promise<StoredBytes>;
  /** The same as `put` for the bytes of a local file that nobody changes. */
  putFile(key: ObjectKey, path: string): Promise<void>;
  /** Copies an object to a key that is free or has the same bytes; durable when it resolves. */
  copy(from: ObjectKey, to: ObjectKey): Promise<void>;
  /** Size in bytes; undefined when the object does not exist. */
  size(key: ObjectKey): Promise<number | undefined>;
  /**
   * Reads an object of up to 1 MiB into new memory, or into `into` of at least 1 MiB. Returns only the size
   * of larger objects.
   */
  read(key: ObjectKey, into?: Uint8Array): Promise<ReadObject | undefined>;
  /** Streams an object of any length. The stream fails when the object does not exist. */
  stream(key: ObjectKey, range?: ByteRange): Readable;
  /** Size and bytes of an object in one request. Only of stores where each request takes time. */
  open?(key: ObjectKey): Promise<OpenObject | undefined>;
  /** Deletes an object; does nothing when it does not exist. */
  remove(key: ObjectKey): Promise<void>;
  /** Deletes all objects below a prefix that ends in a slash; returns their number. */
  removeAll(prefix: ObjectKey): Promise<number>;
  /** Lists keys below a prefix that ends in a slash, in any order. */
  list(prefix: ObjectKey): AsyncIterable<ObjectKey>;
  /**
   * The same with the size of each object, in an order that stays. `after`: continues behind this key of an
   * earlier list. Objects that are removed meanwhile may be missing.
   */
  listSizes(prefix: ObjectKey, after?: ObjectKey): AsyncIterable<ListedObject>;
  /** Whether `listSizes` is in the order of keys, which makes a range of keys as cheap as one of them. */
  readonly listsInOrder?: boolean;
  /** Path of a local file with the object's bytes, if the store has one. The file must not be changed. */
  localFile?(key: ObjectKey): string;
  /** Absent if the store takes whole objects only. */
  readonly partial?: PartialObjects;
  /** Only of stores that clients can reach. */
  readonly direct?: DirectUploads;
  /** Absent without ADOPT_SOURCES. */
  readonly sources?: SourceObjects;
  /** Tries every operation that the service and pages of these origins need; removes what it wrote. */
  diagnose?(origins: readonly string[]): AsyncIterable<StoreFinding>;
  /**
   * Fails when the store cannot be reached or written. Throws ObjectStoreError `full` when only the reserve
   * is free.
   */
  check(): Promise<void>;
};
