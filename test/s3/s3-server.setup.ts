// Starts one S3 server for all S3 tests; without it they are skipped, and this says why.
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { TestProject } from 'vitest/node';
import {
  ACCESS_KEY,
  JOURNEY_BUCKET,
  missingS3Server,
  type S3Server,
  SECRET_KEY,
  startS3Server,
} from '../support/store/ceph-rgw.ts';

let server: S3Server | undefined;

export async function setup({ provide }: TestProject): Promise<void> {
  const missing = missingS3Server();
  if (missing !== undefined) process.stderr.write(`\nThe S3 tests are skipped. ${missing}\n\n`);
  else server = await startS3Server();
  if (server) await createJourneyBucket(server);
  provide('s3Endpoint', server?.endpoint ?? null);
}

async function createJourneyBucket({ endpoint }: S3Server): Promise<void> {
  const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
  const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: JOURNEY_BUCKET }));
  client.destroy();
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
