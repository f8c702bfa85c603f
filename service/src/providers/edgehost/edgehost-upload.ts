// Which of edgehost's two doors a file takes, and what is said there of the video that it will be.
import type { UploadOrder } from '../provider.ts';

/** The product takes a form of up to 200 MB, and above that tus alone, which needs the size. */
const MAX_FORM_BYTES = 200_000_000;
const MAX_DURATION_S = 36_000;
/** An address for uploads lives between two minutes and six hours. */
const SHORTEST_S = 150;
const LONGEST_S = 6 * 3600 - 60;

/** By which a listing finds our videos. */
export const CREATOR = 'mediary';

export const isForm = ({ size }: Pick<UploadOrder, 'size'>): boolean =>
  size === null || size <= MAX_FORM_BYTES;

/** At most what was announced, and what the door takes. */
export const maxBytesOf = ({ size, maxBytes }: Pick<UploadOrder, 'size' | 'maxBytes'>): number =>
  size ?? Math.min(maxBytes, MAX_FORM_BYTES);

/** `now`: seconds since 1970. */
export const expiryOf = ({ expires }: Pick<UploadOrder, 'expires'>, now: number): string =>
  new Date(Math.floor(Math.min(Math.max(expires, now + SHORTEST_S), now + LONGEST_S)) * 1000).toISOString();

export type Wanted = Pick<UploadOrder, 'assetId' | 'filename' | 'mimeType' | 'size'> & {
  readonly expiry: string;
  readonly requireSignedUrls: boolean;
};

export const formBody = ({ assetId, filename, expiry, requireSignedUrls }: Wanted): object => ({
  maxDurationSeconds: MAX_DURATION_S,
  expiry,
  creator: CREATOR,
  meta: { name: filename, mediary_asset_id: assetId },
  requireSignedURLs: requireSignedUrls,
});

export function tusHeaders({
  assetId,
  filename,
  mimeType,
  size,
  expiry,
  requireSignedUrls,
}: Wanted): Record<string, string> {
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

/** The name of a download: the product takes these characters alone, and adds the extension. */
export const downloadName = (filename: string): string =>
  filename
    .replace(/\.[^.]*$/, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\w-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 120);
