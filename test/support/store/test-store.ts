// Where test services store their objects: on disk, or, in the S3 suite, below a prefix of the shared bucket.
import { basename, join, relative } from 'node:path';
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { inject } from 'vitest';
import { ACCESS_KEY, JOURNEY_BUCKET, SECRET_KEY } from './ceph-rgw.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Null: no S3 server is installed. Undefined outside the S3 suite. */
    s3Endpoint: string | null;
  }
}

const endpoint = inject('s3Endpoint');
/** Names of the folders that `newDataDir` makes. */
const DATA_DIR = /^.*\/mediary-test-[^/]+/;

/**
 * Settings of a service with this data folder; processes that share the folder share the store. Without
 * `isDirect` clients get no URLs of the store.
 */
export function storageOf(dataDir: string, { isDirect = true } = {}): Readonly<Record<string, string>> {
  if (!endpoint) return {};
  const parameters = `endpoint=${endpoint}&prefix=${basename(dataDir)}&direct=${isDirect}`;
  return {
    STORAGE_URL: `s3://${JOURNEY_BUCKET}?${parameters}`,
    AWS_ACCESS_KEY_ID: ACCESS_KEY,
    AWS_SECRET_ACCESS_KEY: SECRET_KEY,
  };
}

/** True in the S3 suite. */
export const isStoreRemote = endpoint !== null && endpoint !== undefined;

/** Keys of the objects that a disk store would keep in this folder; of unfinished uploads for `incoming`. */
export async function objectsIn(folder: string): Promise<string[]> {
  const [dataDir] = DATA_DIR.exec(folder) ?? [];
  if (!endpoint || dataDir === undefined) return [];
  const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true });
  const at = { Bucket: JOURNEY_BUCKET, Prefix: `${basename(dataDir)}/` };
  const part = relative(dataDir, folder);
  const found: Listed[] = [];
  if (part === join('objects', 'incoming'))
    found.push(...((await client.send(new ListMultipartUploadsCommand(at))).Uploads ?? []));
  else if (['', 'objects'].includes(part)) found.push(...(await listAll(client, at)));
  client.destroy();
  return found.map(({ Key = '' }) => Key.slice(at.Prefix.length)).filter((key) => !key.startsWith('health/'));
}

type Listed = { readonly Key?: string | undefined };

async function listAll(client: S3Client, at: { Bucket: string; Prefix: string }): Promise<Listed[]> {
  const keys: Listed[] = [];
  for (let token: string | undefined; ; ) {
    const page = await client.send(new ListObjectsV2Command({ ...at, ContinuationToken: token }));
    keys.push(...(page.Contents ?? []));
    token = page.NextContinuationToken;
    if (token === undefined) return keys;
  }
}
