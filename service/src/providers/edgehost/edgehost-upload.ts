// Chooses between the two upload methods of edgehost, and builds their parameters.
import type { UploadOrder, UploadRules } from '../provider.ts';

/** edgehost accepts forms up to 200 MB. Larger files require tus, which requires the size. */
const MAX_FORM_BYTES = 200_000_000;

export const UPLOAD_RULES: UploadRules = { maxDurationSeconds: 36_000 };

/** The product's rules for the requests of a tus upload, and the size that it recommends. */
export const CHUNKS = {
  chunk_size_bytes: 52_428_800,
  chunk_size_multiple_bytes: 262_144,
  chunk_size_min_bytes: 5_242_880,
  chunk_size_max_bytes: 209_715_200,
};

/** The duration that is reserved from the storage of the account until the upload is processed. */
export const toReservedSeconds = (
  { maxDurationSeconds }: Pick<UploadOrder, 'maxDurationSeconds'>,
  defaultSeconds: number,
): number => Math.min(maxDurationSeconds ?? defaultSeconds, UPLOAD_RULES.maxDurationSeconds);

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
  readonly reservedSeconds: number;
  readonly requireSignedUrls: boolean;
};

export const buildFormBody = ({
  assetId,
  filename,
  expiry,
  reservedSeconds,
  requireSignedUrls,
}: UploadParameters): object => ({
  maxDurationSeconds: reservedSeconds,
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
  reservedSeconds,
  requireSignedUrls,
}: UploadParameters): Record<string, string> {
  const metadata = {
    name: filename,
    filetype: mimeType,
    maxDurationSeconds: String(reservedSeconds),
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
