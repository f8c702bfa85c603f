// A page that uploads the chosen file with Uppy, as an application would; the tests bundle and drive it.
import AwsS3, { type AwsS3Options } from '@uppy/aws-s3';
import Uppy from '@uppy/core';
import Tus from '@uppy/tus';

type Target =
  | { readonly protocol: 'put'; readonly url: string; readonly headers: Record<string, string> }
  | { readonly protocol: 'tus'; readonly url: string }
  | {
      readonly protocol: 's3-multipart';
      readonly url: string;
      readonly s3_url: string;
      readonly part_size_bytes: number;
    };

type UploadResult = { readonly uploaded: number; readonly errors: readonly string[] };

const RETRY_DELAYS = [100, 500, 1000, 2000, 4000, 8000, 8000];

function addPlugin(uppy: Uppy, target: Target): void {
  if (target.protocol === 'tus') uppy.use(Tus, { endpoint: target.url, retryDelays: RETRY_DELAYS });
  else uppy.use(AwsS3, toS3Options(target));
}

type S3Target = Exclude<Target, { readonly protocol: 'tus' }>;

function toS3Options(target: S3Target): AwsS3Options<Record<string, unknown>, Record<string, never>> {
  if (target.protocol === 'put')
    return { shouldUseMultipart: false, signRequest: () => ({ url: target.url, headers: target.headers }) };
  return {
    shouldUseMultipart: true,
    getChunkSize: () => target.part_size_bytes,
    signRequest: async (request) => {
      if (!('uploadId' in request)) return { url: target.s3_url };
      if (!('partNumber' in request)) return { url: `${target.s3_url}&uploadId=${request.uploadId}` };
      const [path, query] = target.url.split('?');
      const response = await fetch(`${path}/${request.uploadId}/${request.partNumber}?${query}`);
      return (await response.json()).data;
    },
  };
}

async function upload(target: Target): Promise<UploadResult> {
  const [file] = document.querySelector('input')?.files ?? [];
  if (!file) throw new Error('no file is chosen');
  const uppy = new Uppy();
  addPlugin(uppy, target);
  uppy.addFile({ name: file.name, type: file.type, data: file });
  let result = await uppy.upload();
  for (let retries = 0; result?.failed?.length && retries < RETRY_DELAYS.length; retries += 1)
    result = await uppy.retryAll();
  return {
    uploaded: result?.successful?.length ?? 0,
    errors: (result?.failed ?? []).map(({ error }) => String(error)),
  };
}

Object.assign(globalThis, { upload });
