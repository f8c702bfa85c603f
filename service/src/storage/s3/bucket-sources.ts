// Objects of the operator in buckets of the same store, which copies them by itself.
import { DeleteObjectCommand, HeadObjectCommand, type HeadObjectCommandOutput } from '@aws-sdk/client-s3';
import { SourceError, type SourceObject, type SourceObjects } from '../object-store.ts';
import { ownBucketPlaces, parseSource, undefinedIfMissing } from '../sources/source-url.ts';
import type { S3Connection } from './connection.ts';
import { copyInStore } from './copy.ts';
import { describeStoreError, hasName, statusOf } from './errors.ts';

type Find = (url: string) => Promise<HeadObjectCommandOutput>;

type BucketSources = {
  /** The places of ADOPT_SOURCES. */
  readonly allowed: readonly string[];
  readonly maxWholeBytes?: number | undefined;
};

export function openBucketSources(
  s3: S3Connection,
  { allowed, maxWholeBytes }: BucketSources,
): SourceObjects {
  const rules = { scheme: 's3', allowed, own: ownBucketPlaces(s3.location) } as const;
  const at = (url: string) => toObject(parseSource(url, rules).name);
  const find: Find = async (url) => {
    const command = new HeadObjectCommand(at(url));
    return explain(s3.run((options) => s3.client.send(command, options)));
  };
  const remove = (object: ReturnType<typeof toObject>) =>
    s3.run((options) => s3.client.send(new DeleteObjectCommand(object), options));
  return {
    find: async (url) => toSource(url, await find(url)),
    copy: async ({ url, version, sizeBytes }, { to, signal }) => {
      const copy = { source: at(url), to, sizeBytes, ifMatch: version, signal, maxWholeBytes };
      const copying = explain(copyInStore(s3, copy));
      await copying.catch(() => undefined);
      // Ceph does not compare the ETag of a source.
      if ((await find(url)).ETag === version) await copying;
      else {
        await remove(s3.at(to));
        throw new SourceError('source_changed', 'source was overwritten while it was copied');
      }
      return { sizeBytes, version, sha256: null };
    },
    remove: async ({ url, version }) => {
      const found = await find(url).catch(undefinedIfMissing);
      if (found?.ETag !== version) return false;
      await remove(at(url));
      return true;
    },
  };
}

function toObject(name: string) {
  const end = name.indexOf('/');
  return { Bucket: name.slice(0, end), Key: name.slice(end + 1) };
}

const toSource = (
  url: string,
  { ETag, ContentLength, ContentType }: HeadObjectCommandOutput,
): SourceObject => ({
  url,
  sizeBytes: ContentLength ?? 0,
  version: ETag ?? '',
  contentType: ContentType ?? null,
});

/** Storage classes that have to be restored before they can be read. */
const ARCHIVED = 'InvalidObjectState';
/** Of a bucket in another region, and of credentials without the right to read it. */
const UNREADABLE_STATUS = [301, 403];

/** The store names the cause of what an operator can end; all else is an error of the store. */
async function explain<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    if (!(cause instanceof Error)) throw error;
    if (hasName(cause, 'NotFound', 'NoSuchKey', 'NoSuchBucket'))
      throw new SourceError('source_missing', 'source does not exist', { cause });
    if (hasName(cause, ARCHIVED))
      throw new SourceError('source_unreadable', 'source is archived: restore it first', { cause });
    if (UNREADABLE_STATUS.includes(statusOf(cause) ?? 0))
      throw new SourceError('source_unreadable', `source cannot be read: ${describeStoreError(cause)}`, {
        cause,
      });
    throw error;
  }
}
