// Buckets for S3 tests: each test file has its own, on the one server of the run.
import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { describe, inject } from 'vitest';
import { parseS3Url, type S3Location } from '../../../service/src/storage/storage-url.ts';

/** Null without a server. */
const endpoint = inject('s3Endpoint');

/** Skips its tests where no S3 server is installed. */
export const describeS3 = describe.skipIf(endpoint === null);

export type TestBucket = { readonly client: S3Client; readonly location: S3Location; readonly url: string };

export async function createBucket({ parameters = '' } = {}): Promise<TestBucket> {
  if (endpoint === null) throw new Error('no S3 server');
  const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true });
  const bucket = `test-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return { client, ...locate(bucket, endpoint, parameters) };
}

/** The same bucket by way of another address. */
export const reachedBy = ({ client, location }: TestBucket, proxy: string, parameters = ''): TestBucket => ({
  client,
  ...locate(location.bucket, proxy, parameters),
});

function locate(bucket: string, at: string, parameters: string) {
  const url = `s3://${bucket}?endpoint=${at}${parameters}`;
  const problems: string[] = [];
  const location = parseS3Url(url, (problem) => problems.push(problem));
  if (!location) throw new Error(problems.join());
  return { location, url };
}
