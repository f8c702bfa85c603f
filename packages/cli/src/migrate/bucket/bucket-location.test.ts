// URLs of buckets.
import { expect, test } from 'vitest';
import { parseBucketUrl } from './bucket-location.ts';

test('a bucket is at Amazon, or at an endpoint, where it is a part of the path', () => {
  expect(parseBucketUrl('s3://films?region=eu-central-1&prefix=2024/May%20')).toEqual({
    bucket: 'films',
    region: 'eu-central-1',
    endpoint: undefined,
    isPathStyle: false,
    prefix: '2024/May ',
  });
  expect(parseBucketUrl('s3://films?endpoint=https://s3.example.com/')).toMatchObject({
    region: 'us-east-1',
    endpoint: 'https://s3.example.com',
    isPathStyle: true,
  });
  expect(parseBucketUrl('s3://films?endpoint=https://s3.example.com&path_style=false').isPathStyle).toBe(
    false,
  );
});

test.each([
  ['films', 'it is no URL'],
  ['https://films.example.com', 'it does not start with s3://'],
  ['s3://films', 'region is missing'],
  ['s3://F?region=a', 'the name of the bucket is invalid'],
  ['s3://key:secret@films?region=a', 'AWS_ACCESS_KEY_ID'],
  ['s3://films/2024?region=a', 'only parameters may follow'],
  ['s3://films?region=a&acl=x', 'acl is no parameter'],
  ['s3://films?endpoint=s3.example.com', 'endpoint must be'],
])('%s is refused', (text, problem) => {
  expect(() => parseBucketUrl(text)).toThrow(problem);
});
