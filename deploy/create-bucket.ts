// Creates the bucket of STORAGE_URL in the S3 store of compose.yaml, unless it exists.
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

const url = new URL(process.env['STORAGE_URL'] ?? '');
const endpoint = url.searchParams.get('endpoint') ?? '';
const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
const EXISTS = ['BucketAlreadyOwnedByYou', 'BucketAlreadyExists'];

await client.send(new CreateBucketCommand({ Bucket: url.hostname })).catch((error: unknown) => {
  if (!(error instanceof Error && EXISTS.includes(error.name))) throw error;
});
