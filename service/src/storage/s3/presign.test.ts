// The signatures of presigned requests equal those of the examples that Amazon publishes.
import { expect, test } from 'vitest';
import { presign } from './presign.ts';

const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const location = {
  bucket: 'examplebucket',
  region: 'us-east-1',
  endpoint: undefined,
  publicEndpoint: 'https://s3.amazonaws.com',
  pathStyle: false,
  direct: true,
  prefix: '',
};
const now = new Date('2013-05-24T00:00:00Z');
const get = { method: 'GET', key: 'test.txt', expiresInSeconds: 86_400 } as const;

test("Amazon's example of a presigned GET", () => {
  expect(presign({ location, credentials, now }, get)).toBe(
    'https://examplebucket.s3.amazonaws.com/test.txt' +
      '?X-Amz-Algorithm=AWS4-HMAC-SHA256' +
      '&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request' +
      '&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host' +
      '&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  );
});

test('signed headers are named, and each changes the signature', () => {
  const signatureOf = (headers: Record<string, string>) => {
    const { searchParams } = new URL(
      presign({ location, credentials, now }, { ...get, method: 'PUT', headers }),
    );
    return [searchParams.get('X-Amz-SignedHeaders'), searchParams.get('X-Amz-Signature')];
  };
  const [names, signature] = signatureOf({ 'content-type': 'video/mp4', 'content-length': '7' });
  expect(names).toBe('content-length;content-type;host');
  for (const headers of [
    { 'content-type': 'video/webm', 'content-length': '7' },
    { 'content-type': 'video/mp4', 'content-length': '8' },
    { 'content-type': 'video/mp4', 'content-length': '7', 'x-amz-content-sha256': 'a'.repeat(64) },
  ])
    expect(signatureOf(headers)[1]).not.toBe(signature);
});

test('a session token is a parameter, and reserved characters are escaped', () => {
  const url = presign(
    { location, credentials: { ...credentials, sessionToken: 'a+b/c=' }, now },
    { ...get, query: { 'response-content-disposition': "attachment; filename*=UTF-8''it's (1)*.mp4" } },
  );
  expect(url).toContain('X-Amz-Security-Token=a%2Bb%2Fc%3D');
  expect(url).toContain(
    'response-content-disposition=attachment%3B%20filename%2A%3DUTF-8%27%27it%27s%20%281%29%2A.mp4',
  );
});

test('a bucket is part of the path or of the host', () => {
  const at = (changes: object) =>
    presign({ location: { ...location, ...changes }, credentials, now }, get).split('?')[0];
  expect(at({ publicEndpoint: 'http://127.0.0.1:9000', pathStyle: true })).toBe(
    'http://127.0.0.1:9000/examplebucket/test.txt',
  );
  expect(at({ publicEndpoint: undefined, region: 'eu-central-1' })).toBe(
    'https://examplebucket.s3.eu-central-1.amazonaws.com/test.txt',
  );
  expect(at({ publicEndpoint: undefined, region: 'cn-north-1' })).toBe(
    'https://examplebucket.s3.cn-north-1.amazonaws.com.cn/test.txt',
  );
});
