// Chooses between the two upload methods of edgehost, and builds their parameters.
import type { UploadOrder } from '../provider.ts';

/** edgehost accepts forms up to 200 MB. Larger files require tus, which requires the size. */
const MAX_FORM_BYTES = 200_000_000;
const MAX_DURATION_S = 36_000;
/** Upload URLs are valid for two minutes to six hours. */
const MIN_AGE_S = 150;
const MAX_AGE_S = 6 * 3600 - 60;

/** Identifies the videos of this service in listings. */
export const CREATOR = 'mediary';

export const isFormUpload = ({ size }: Pick<UploadOrder, 'size'>): boolean =>
  size === null || size <= MAX_FORM_BYTES;

/** The announced size, limited by the maximum of the method. */
export const toMaxBytes = ({ size, maxBytes }: Pick<UploadOrder, 'size' | 'maxBytes'>): number =>
  size ?? Math.min(maxBytes, MAX_FORM_BYTES);

/** `now` is in seconds since 1970. */
export const toUploadExpiry = ({ expires }: Pick<UploadOrder, 'expires'>, now: number): string =>
  new Date(Math.floor(Math.min(Math.max(expires, now + MIN_AGE_S), now + MAX_AGE_S)) * 1000).toISOString();

type UploadParameters = Pick<UploadOrder, 'assetId' | 'filename' | 'mimeType' | 'size'> & {
  readonly expiry: string;
  readonly requireSignedUrls: boolean;
};

export const buildFormBody = ({
  assetId,
  filename,
  expiry,
  requireSignedUrls,
}: UploadParameters): object => ({
  maxDurationSeconds: MAX_DURATION_S,
  expiry,
  creator: CREATOR,
  meta: { name: filename, mediary_asset_id: assetId },
  requireSignedURLs: requireSignedUrls,
});

export function buildTusHeaders({
  assetId,
  filename,
  mimeType,
  size,
  expiry,
  requireSignedUrls,
}: UploadParameters): Record<string, string> {
  const metadata = {
    name: filename,
    filetype: mimeType,
    maxDurationSeconds: String(MAX_DURATION_S),
    expiry,
    mediary_asset_id: assetId,
  };
  const pairs = Object.entries(metadata).map(
    ([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`,
  );
  return {
    'Tus-Resumable': '1.0.0',
    'Upload-Length': String(size),
    'Upload-Creator': CREATOR,
    'Upload-Metadata': [...pairs, ...(requireSignedUrls ? ['requiresignedurls'] : [])].join(','),
  };
}

/** File name of a download: edgehost accepts only these characters and adds the extension. */
export const toDownloadName = (filename: string): string =>
  filename
    .replace(/\.[^.]*$/, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\w-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 120);
