// Starts one S3 server for all S3 tests; without it they are skipped, and this says why.
import type { TestProject } from 'vitest/node';
import { missingS3Server, type S3Server, startS3Server } from '../support/ceph-rgw.ts';

let server: S3Server | undefined;

export async function setup({ provide }: TestProject): Promise<void> {
  const missing = missingS3Server();
  if (missing !== undefined) process.stderr.write(`\nThe S3 tests are skipped. ${missing}\n\n`);
  else server = await startS3Server();
  provide('s3Endpoint', server?.endpoint ?? null);
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
