// A STORAGE_URL of a bucket is parsed completely, or every problem is named in one message.
import { describe, expect, test } from 'vitest';
import { parseS3Url } from './storage-url.ts';

function parsed(url: string) {
  const problems: string[] = [];
  return { location: parseS3Url(url, (problem) => problems.push(problem)), problems };
}

describe('a valid URL', () => {
  test('of Amazon S3 has a bucket and a region', () => {
    expect(parsed('s3://media?region=eu-central-1').location).toEqual({
      bucket: 'media',
      region: 'eu-central-1',
      endpoint: undefined,
      publicEndpoint: undefined,
      pathStyle: false,
      direct: true,
      prefix: '',
    });
  });

  test('of another store has an endpoint, and then path style and a region by default', () => {
    expect(parsed('s3://media/?endpoint=http://10.0.0.5:9000/&prefix=production/one').location).toEqual({
      bucket: 'media',
      region: 'us-east-1',
      endpoint: 'http://10.0.0.5:9000',
      publicEndpoint: 'http://10.0.0.5:9000',
      pathStyle: true,
      direct: true,
      prefix: 'production/one/',
    });
  });

  test('may name the address for clients and the addressing style', () => {
    expect(
      parsed('s3://media?endpoint=http://minio:9000&public_endpoint=https://s3.example.com&path_style=false')
        .location,
    ).toMatchObject({
      endpoint: 'http://minio:9000',
      publicEndpoint: 'https://s3.example.com',
      pathStyle: false,
    });
  });
});

test('clients reach the bucket unless the URL says that they cannot', () => {
  const directOf = (more: string) => parsed(`s3://media?region=eu-1${more}`).location?.direct;
  expect(['', '&direct=true', '&direct=false'].map(directOf)).toEqual([true, true, false]);
});

describe('an invalid URL', () => {
  test.for([
    ['s3://media', 'region is missing'],
    ['s3://media?region=EU', 'region must be a name'],
    ['s3://Me?region=eu-1', 'the bucket must have 3 to 63'],
    ['s3:?region=eu-1', 'the bucket must have 3 to 63'],
    ['s3://key:secret@media?region=eu-1', 'credentials do not belong into the URL'],
    ['s3://media/folder?region=eu-1', 'only a query may follow'],
    ['s3://media?endpoint=minio:9000', 'endpoint must be an http or https URL'],
    ['s3://media?endpoint=http://minio/path', 'endpoint must be an http or https URL'],
    ['s3://media?endpoint=http://[:9000', 'endpoint must be an http or https URL'],
    ['s3://media?region=eu-1&path_style=yes', 'path_style must be true or false'],
    ['s3://media?region=eu-1&direct=no', 'direct must be true or false'],
    ['s3://media?region=eu-1&prefix=../up', 'prefix may contain'],
    ['s3://media?region=eu-1&pathstyle=true', 'pathstyle is not a parameter'],
    ['s3://[', 'is not a URL'],
  ])('%s', ([url = '', words]) => {
    const { location, problems } = parsed(url);
    expect(location).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining(String(words))]);
    expect(problems[0]).toContain('s3://<bucket>?region=');
    expect(problems[0]).not.toContain('secret@');
  });

  test('names all problems in one message', () => {
    const { problems } = parsed('s3://x?path_style=1');
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/bucket must.*region is missing.*path_style must/);
  });
});
