// An S3-compatible bucket as a source: its images and videos, with caption files beside them.
import type { Environment } from '../../context.ts';
import { CliError, EXIT } from '../../exit-codes.ts';
import { FILE_URL_TTL_S, type MigrationSource, type SourceItem } from '../source.ts';
import { requireVariable } from '../sources/source-settings.ts';
import { createVendorClient, type VendorClient } from '../vendor-client.ts';
import { type BucketLocation, parseBucketUrl } from './bucket-location.ts';
import { toFilename, toMediaFacts, toStorageUrl } from './media-facts.ts';
import { type BucketObject, findMediaObjects, parseObjectPage } from './object-list.ts';
import { type BucketCredentials, presignGet } from './presign.ts';

type Bucket = {
  readonly client: VendorClient;
  readonly location: BucketLocation;
  readonly credentials: BucketCredentials;
};

export function openBucketSource(env: Environment, signal: AbortSignal, url: string): MigrationSource {
  const location = parseBucketUrl(url);
  const credentials = {
    accessKeyId: requireVariable(env, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: requireVariable(env, 'AWS_SECRET_ACCESS_KEY'),
    sessionToken: env['AWS_SESSION_TOKEN'] || undefined,
  };
  const client = createVendorClient({
    name: 'The bucket',
    credentialHint: 'Check the AWS_… variables, the region, and that the key may list and read the bucket.',
    signal,
  });
  const bucket: Bucket = { client, location, credentials };
  return {
    name: 'bucket',
    label: `${location.bucket}/${location.prefix}`,
    listItems: () => listItems(bucket),
  };
}

/** The caption files of an object can be on another page. */
async function* listItems(bucket: Bucket): AsyncGenerator<SourceItem> {
  const objects: BucketObject[] = [];
  for await (const object of listObjects(bucket)) objects.push(object);
  for (const object of findMediaObjects(objects)) {
    // Ids hold the bucket: two buckets may have the same key.
    const id = `${bucket.location.bucket}/${object.key}`;
    yield {
      ...toMediaFacts(object, { id, storageUrl: toStorageUrl('s3', id) }),
      openFile: async () => ({
        url: sign(bucket, object.key),
        filename: toFilename(object),
        mimeType: object.mimeType ?? '',
      }),
      listCaptions: async () =>
        object.captions.map(({ language, key }) => ({
          language,
          label: undefined,
          kind: 'subtitles',
          read: () => bucket.client.readText({ url: sign(bucket, key) }),
        })),
    };
  }
}

const sign = ({ location, credentials }: Bucket, key: string): string =>
  presignGet({ location, credentials, now: new Date() }, { key, expiresInS: FILE_URL_TTL_S });

const LIST_EXPIRES_S = 300;

async function* listObjects({ client, location, credentials }: Bucket): AsyncGenerator<BucketObject> {
  for (let token: string | undefined; ; ) {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      prefix: location.prefix,
      ...(token !== undefined && { 'continuation-token': token }),
    };
    const request = { key: '', query, expiresInS: LIST_EXPIRES_S };
    const url = presignGet({ location, credentials, now: new Date() }, request);
    const page = parseObjectPage(await client.readText({ url }));
    if (!page) throw new CliError('The bucket returned no list of objects.', EXIT.failed);
    yield* page.objects;
    token = page.continuationToken;
    if (token === undefined) return;
  }
}
