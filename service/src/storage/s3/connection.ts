// Opens the S3 client with bounded connections, retries and timeouts.
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { HeadBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { ObjectKey } from '../object-key.ts';
import type { S3Location } from '../storage-url.ts';
import { isMissing, throwStoreError } from './errors.ts';

/** In milliseconds. */
export type S3Timeouts = {
  /** Includes the wait for a free socket. */
  readonly connect: number;
  /** A socket without any traffic is closed after this time; it also ends stalled bodies. */
  readonly idle: number;
  /** All attempts of one request together; bodies are read afterwards. */
  readonly request: number;
  /** All attempts of a copy together, whose response is silent until it ends; default: ten minutes. */
  readonly copy?: number;
};

export const S3_TIMEOUTS: S3Timeouts = { connect: 5000, idle: 15_000, request: 60_000 };
const MAX_SOCKETS = 128;
/** Each client that reads a large object slowly holds one. */
const MAX_READER_SOCKETS = 1024;
const COPY_MS = 600_000;
const MAX_COPY_SOCKETS = 64;
const MAX_ATTEMPTS = 3;

type S3Options = { readonly abortSignal: AbortSignal };

export type S3Connection = {
  readonly client: S3Client;
  /** Reads objects, on sockets of its own: slow readers must not delay other requests. */
  readonly reader: S3Client;
  /** Lets the store copy objects, for which it waits longer. */
  readonly copier: S3Client;
  readonly location: S3Location;
  /** Closes all connections. */
  readonly close: () => void;
  /** Bucket and full name of an object, as the SDK's commands take them. */
  readonly at: (key: ObjectKey) => { readonly Bucket: string; readonly Key: string };
  /** Runs requests under one deadline; throws UNAVAILABLE when the store does not answer as it should. */
  readonly run: <T>(work: (options: S3Options) => Promise<T>, signal?: AbortSignal) => Promise<T>;
  /** The same with the deadline of copies. */
  readonly runCopy: S3Connection['run'];
  /** The same as `run`, but undefined when the object does not exist. */
  readonly find: <T>(
    work: (options: S3Options) => Promise<T>,
    signal?: AbortSignal,
  ) => Promise<T | undefined>;
};

/** `credentials`: undefined for those that the AWS tools would find. */
type ClientOptions = Pick<S3ClientConfig, 'credentials' | 'maxAttempts'>;

export function connect(
  location: S3Location,
  timeouts: S3Timeouts,
  options: ClientOptions = {},
): S3Connection {
  const client = new S3Client({ ...configOf(location, timeouts, MAX_SOCKETS), ...options });
  const reader = new S3Client({
    ...configOf(location, timeouts, MAX_READER_SOCKETS),
    ...options,
    credentials: client.config.credentials,
  });
  const copyMs = timeouts.copy ?? COPY_MS;
  const copier = new S3Client({
    ...configOf(location, { ...timeouts, idle: copyMs }, MAX_COPY_SOCKETS),
    ...options,
    credentials: client.config.credentials,
  });
  const withDeadline = runWithin(timeouts.request);
  const withCopyDeadline = runWithin(copyMs);
  const run: S3Connection['run'] = (work, signal) => withDeadline(work, signal).catch(throwStoreError);
  return {
    client,
    reader,
    copier,
    location,
    close: () => {
      for (const each of [client, reader, copier]) each.destroy();
    },
    at: (key) => ({ Bucket: location.bucket, Key: `${location.prefix}${requireKey(key)}` }),
    run,
    runCopy: (work, signal) => withCopyDeadline(work, signal).catch(throwStoreError),
    find: async (work, signal) => {
      try {
        return await withDeadline(work, signal);
      } catch (error) {
        if (!isMissing(error)) throwStoreError(error);
        // A missing bucket must not look like missing objects, because assets would fail for good.
        await run((options) => client.send(new HeadBucketCommand({ Bucket: location.bucket }), options));
        return undefined;
      }
    },
  };
}

const runWithin =
  (ms: number): S3Connection['run'] =>
  (work, signal) => {
    const deadline = AbortSignal.timeout(ms);
    return work({ abortSignal: signal ? AbortSignal.any([signal, deadline]) : deadline });
  };

function configOf(location: S3Location, timeouts: S3Timeouts, maxSockets: number): S3ClientConfig {
  const pool = { keepAlive: true, maxSockets };
  return {
    region: location.region,
    ...(location.endpoint !== undefined && { endpoint: location.endpoint }),
    forcePathStyle: location.pathStyle,
    maxAttempts: MAX_ATTEMPTS,
    // The default adds checksum trailers, which Ceph refuses and older servers store as part of the object.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: new NodeHttpHandler({
      connectionTimeout: timeouts.connect,
      socketTimeout: timeouts.idle,
      httpAgent: new HttpAgent(pool),
      httpsAgent: new HttpsAgent(pool),
    }),
  };
}

/** Rejects path traversal and foreign keys, in case a key was created by a type cast. */
function requireKey(key: ObjectKey): string {
  if (!/^[a-z0-9]+\/[a-z0-9._/-]*$/.test(key) || /(?:^|\/)\.|\/\//.test(key))
    throw new Error('not an object key');
  return key;
}
