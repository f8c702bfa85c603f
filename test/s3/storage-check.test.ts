// `npm run storage -- check` tries every operation on the store, and prints what to change, ready to paste.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  ListObjectsV2Command,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBucket, describeS3, type TestBucket } from '../support/store/s3.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const ORIGIN = 'https://app.example.com';

describeS3('the storage check', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'mediary-test-'));
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  /** As an operator runs it. */
  const check = (url: string, environment: Record<string, string> = {}) =>
    new Promise<{ status: number; output: string }>((done) => {
      const env = {
        ...process.env,
        STORAGE_URL: url,
        DATA_DIR: dataDir,
        CORS_ORIGINS: ORIGIN,
        ...environment,
      };
      const child = execFile(
        process.execPath,
        ['service/start.js', 'storage', 'check'],
        { cwd: ROOT, env },
        (_, out, err) => done({ status: child.exitCode ?? -1, output: `${out}${err}` }),
      );
    });

  const jsonAfter = (output: string, words: string) =>
    JSON.parse(/^\{\n[\s\S]*?\n\}$/m.exec(output.slice(output.indexOf(words)))?.[0] ?? '');
  const problems = (output: string) => output.match(/^ {2}(?:MISSING|advised) .*$/gm) ?? [];
  const leftIn = async ({ client, location }: TestBucket) =>
    (await client.send(new ListObjectsV2Command({ Bucket: location.bucket }))).Contents ?? [];

  test('of a new bucket prints CORS and lifecycle rules; with them it passes', async () => {
    const bucket = await createBucket({ parameters: '&prefix=media' });
    const before = await check(bucket.url);
    expect(before.status).toBe(1);
    expect(problems(before.output)).toEqual([
      expect.stringContaining(`MISSING  let web pages of ${ORIGIN} upload and play (CORS)`),
      expect.stringContaining('advised  remove unfinished uploads'),
    ]);
    const at = { Bucket: bucket.location.bucket };
    const cors = jsonAfter(before.output, 'put-bucket-cors');
    expect(cors.CORSRules[0].AllowedOrigins).toEqual([ORIGIN]);
    await bucket.client.send(new PutBucketCorsCommand({ ...at, CORSConfiguration: cors }));
    const lifecycle = jsonAfter(before.output, 'put-bucket-lifecycle');
    await bucket.client.send(
      new PutBucketLifecycleConfigurationCommand({ ...at, LifecycleConfiguration: lifecycle }),
    );
    expect(lifecycle.Rules).toEqual([expect.objectContaining({ Filter: { Prefix: 'media/' } })]);
    const after = await check(bucket.url);
    expect(problems(after.output)).toEqual([]);
    expect(after.status).toBe(0);
    expect(await leftIn(bucket)).toEqual([]);
  });

  test('of a bucket that clients cannot reach needs no CORS rules', async () => {
    const { url } = await createBucket();
    const { status, output } = await check(`${url}&direct=false`);
    expect(problems(output)).toEqual([expect.stringContaining('advised  remove unfinished uploads')]);
    expect(output).toContain('ok       upload in parts');
    expect([status, output.includes('presigned')]).toEqual([0, false]);
  });

  test('of a store that serves segments asks for a rule that allows every origin', async () => {
    const bucket = await createBucket();
    const { output } = await check(bucket.url, { SEGMENT_DELIVERY: 'redirect' });
    expect(problems(output)).toContainEqual(
      expect.stringContaining('MISSING  let players follow redirects to the store (CORS, origin "null")'),
    );
    const cors = jsonAfter(output, 'put-bucket-cors');
    expect(cors.CORSRules[0].AllowedOrigins).toEqual(['*']);
    await bucket.client.send(
      new PutBucketCorsCommand({ Bucket: bucket.location.bucket, CORSConfiguration: cors }),
    );
    const after = await check(bucket.url, { SEGMENT_DELIVERY: 'redirect' });
    expect([after.status, after.output.includes('MISSING')]).toEqual([0, false]);
  });

  test('names a CORS rule that hides headers or forbids uploads', async () => {
    const bucket = await createBucket();
    const rule = { AllowedOrigins: [ORIGIN], AllowedMethods: ['GET', 'PUT'], AllowedHeaders: ['*'] };
    for (const [change, words] of [
      [{}, 'does not expose etag, content-range'],
      [{ AllowedMethods: ['GET'] }, 'PUT is not allowed'],
      [{ AllowedHeaders: ['content-type'] }, 'PUT is not allowed'],
      [{ AllowedOrigins: ['https://other.example.com'] }, 'PUT is not allowed from this origin'],
    ] as const) {
      const CORSRules = [{ ...rule, ...change }].map((one) => ({
        AllowedOrigins: [...one.AllowedOrigins],
        AllowedMethods: [...one.AllowedMethods],
        AllowedHeaders: [...one.AllowedHeaders],
      }));
      await bucket.client.send(
        new PutBucketCorsCommand({ Bucket: bucket.location.bucket, CORSConfiguration: { CORSRules } }),
      );
      const { status, output } = await check(bucket.url);
      expect([status, problems(output)[0]]).toEqual([1, expect.stringContaining(words)]);
    }
  });

  test('names a missing right and prints the policy', async () => {
    const bucket = await createBucket();
    const Bucket = bucket.location.bucket;
    const Statement = [
      { Effect: 'Deny', Principal: '*', Action: 's3:DeleteObject', Resource: `arn:aws:s3:::${Bucket}/*` },
    ];
    await bucket.client.send(
      new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }),
    );
    const { status, output } = await check(bucket.url);
    expect(status).toBe(1);
    expect(problems(output)).toContainEqual(
      expect.stringMatching(/MISSING {2}delete objects: .*AccessDenied/),
    );
    expect(jsonAfter(output, 'policy.json').Statement[1].Action).toContain('s3:DeleteObject');
  });

  test('stops at settings that are wrong, and says which', async () => {
    const { url, location } = await createBucket();
    const wrongSecret = await check(url, { AWS_SECRET_ACCESS_KEY: 'not-the-secret' });
    expect(wrongSecret.status).toBe(1);
    expect(wrongSecret.output).toMatch(/MISSING {2}reach the bucket.*: the secret key is wrong/);
    expect(wrongSecret.output).not.toContain('not-the-secret');
    const noBucket = await check(url.replace(location.bucket, 'no-such-bucket'));
    expect(noBucket.output).toMatch(/MISSING {2}reach the bucket.*: the bucket does not exist/);
    const nobody = await check(url.replace(/endpoint=[^&]*/, 'endpoint=http://127.0.0.1:1'));
    expect(nobody.output).toMatch(/MISSING {2}reach the bucket.*: .*ECONNREFUSED/);
    const noCredentials = await check(url, {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_EC2_METADATA_DISABLED: 'true',
      HOME: dataDir,
    });
    expect(noCredentials.output).toMatch(/MISSING {2}find credentials: .*credentials/);
    for (const { status, output } of [wrongSecret, noBucket, nobody, noCredentials])
      expect([status, problems(output).length]).toEqual([1, 1]);
  });

  test('of a folder reads and writes it', async () => {
    expect(await check(`file://${join(dataDir, 'files')}`)).toEqual({
      status: 0,
      output: expect.stringContaining('ok       read and write files'),
    });
  });
});
