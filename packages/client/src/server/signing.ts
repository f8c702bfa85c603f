// Signs access tokens and URLs of images, with secrets that only back ends have.
import type { IMAGE_FORMATS, IMAGE_ROTATIONS, SIGNED_IMAGE_FITS } from '@mediary/contract/enums';
import { imageTextToSign } from '@mediary/media-rules/image-signature';
import { toBase64 } from '../encoding.ts';
import { setParameters, splitImageUrl } from '../image-url.ts';

export type AccessTokenOptions = {
  /** `ACCESS_TOKEN_SECRET` of the service. */
  secret: string;
  /** Owner of what the bearer creates, 1–255 characters. */
  userId: string | number;
  /** Seconds until the token expires. Default 900. */
  expiresInS?: number | undefined;
};

/**
 * Signs an access token (JWT, HS256) for a user. Call it where you know who the user is, never in a browser.
 *
 * @example const token = await signAccessToken({ secret: process.env.ACCESS_TOKEN_SECRET, userId: 'ann' });
 */
export async function signAccessToken({
  secret,
  userId,
  expiresInS = 900,
}: AccessTokenOptions): Promise<string> {
  if (secret === '') throw new TypeError('The secret is empty.');
  const iat = Math.floor(Date.now() / 1000);
  const claims = { user_id: userId, type: 'access', iat, exp: iat + expiresInS };
  const content = `${toSegment({ alg: 'HS256', typ: 'JWT' })}.${toSegment(claims)}`;
  return `${content}.${await sign(secret, content)}`;
}

export type ImageEdit = {
  /** Largest width in pixels. An image is never enlarged. */
  width?: number | undefined;
  /** Largest height in pixels. */
  height?: number | undefined;
  /** `inside` (default) fits into the box; `cover` fills it and crops; `contain` pads; `fill` stretches. */
  fit?: (typeof SIGNED_IMAGE_FITS)[number] | undefined;
  /** What `cover` keeps. A point is parts of width and height from the top left. Default: the focal point. */
  gravity?: 'center' | 'attention' | { x: number; y: number } | undefined;
  /** Default: the best that the viewer accepts. */
  format?: (typeof IMAGE_FORMATS)[number] | undefined;
  /** 1–100, of AVIF, WebP and JPEG. */
  quality?: number | undefined;
  /** Standard deviation of a Gaussian blur, in pixels of the result, 0.3–100. */
  blur?: number | undefined;
  /** Behind transparent pixels and in margins, as `ffffff` or `#ffffff`. */
  background?: string | undefined;
  /** Clockwise, in degrees. */
  rotate?: (typeof IMAGE_ROTATIONS)[number] | undefined;
  /** Multiplies width and height, 1–4. */
  dpr?: number | undefined;
};

/**
 * The signed URL of an image, or of a poster, in any size and with edits. No request is sent.
 *
 * @param src `image` of `media.playback`. A size or signature that it has already is replaced.
 * @param key `key` of `images.getSigningKey`.
 * @throws TypeError for a URL that is not one of an image of this service.
 * @example const url = await signImageUrl(image, { width: 640, height: 360, fit: 'cover' }, key);
 */
export async function signImageUrl(src: string, edit: ImageEdit, key: string): Promise<string> {
  const { path, parameters: given } = splitImageUrl(src);
  const [, assetId] = /\/playback\/([^/]+)\/(?:~[^/]+\/)?image$/.exec(path) ?? [];
  if (assetId === undefined) throw new TypeError(`No URL of an image of this service: ${src}`);
  const version = given.get('v');
  const parameters = new URLSearchParams();
  setParameters(parameters, toParameters(edit));
  const signature = await sign(key, imageTextToSign(assetId, parameters));
  if (version !== null) parameters.set('v', version);
  return `${path}?${parameters}&s=${signature}`;
}

const toParameters = ({ width, height, gravity, background, ...edit }: ImageEdit): object => ({
  ...edit,
  w: width,
  h: height,
  gravity: typeof gravity === 'object' ? `${toPart(gravity.x)},${toPart(gravity.y)}` : gravity,
  background: background?.replace(/^#/, ''),
});

const toPart = (part: number): number => Math.round(1000 * part) / 1000;

/** HMAC-SHA256 in base64url without padding. The bytes of the text are the key. */
async function sign(secret: string, content: string): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encode(secret), algorithm, false, ['sign']);
  return toBase64Url(new Uint8Array(await crypto.subtle.sign('HMAC', key, encode(content))));
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const toSegment = (value: object): string => toBase64Url(encode(JSON.stringify(value)));
const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
