// The signature equals that of the example that Amazon publishes.
import { expect, test } from 'vitest';
import { presignGet } from './presign.ts';

const signer = {
  location: {
    bucket: 'examplebucket',
    region: 'us-east-1',
    endpoint: 'https://s3.amazonaws.com',
    isPathStyle: false,
    prefix: '',
  },
  credentials: {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    sessionToken: undefined,
  },
  now: new Date('2013-05-24T00:00:00Z'),
};

test("Amazon's example of a presigned GET", () => {
  expect(presignGet(signer, { key: 'test.txt', expiresInS: 86_400 })).toBe(
    'https://examplebucket.s3.amazonaws.com/test.txt' +
      '?X-Amz-Algorithm=AWS4-HMAC-SHA256' +
      '&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request' +
      '&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host' +
      '&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  );
});

test('keys are escaped, and parameters are in the order of their names', () => {
  const location = { ...signer.location, isPathStyle: true };
  const url = presignGet({ ...signer, location }, { key: "a b/it's+1.mp4", expiresInS: 60 });
  expect(url).toMatch(
    /^https:\/\/s3\.amazonaws\.com\/examplebucket\/a%20b\/it%27s%2B1\.mp4\?X-Amz-Algorithm/,
  );
  const query = { prefix: 'a/', 'list-type': '2' };
  const listed = presignGet(signer, { key: '', query, expiresInS: 60 });
  expect(listed).toMatch(/X-Amz-SignedHeaders=host&list-type=2&prefix=a%2F&X-Amz-Signature=/);
});

test('without an endpoint the bucket is at Amazon', () => {
  const at = (region: string) => {
    const location = { ...signer.location, endpoint: undefined, region };
    return new URL(presignGet({ ...signer, location }, { key: 'a', expiresInS: 60 })).host;
  };
  expect(at('eu-central-1')).toBe('examplebucket.s3.eu-central-1.amazonaws.com');
  expect(at('cn-north-1')).toBe('examplebucket.s3.cn-north-1.amazonaws.com.cn');
});
