// Variants of images: sizes that everybody may request, signed ones, and presets of the operator.
import { type Static, type TObject, Type } from 'typebox';
import { IMAGE_EDIT_PARAMETERS } from '../image-edits.ts';
import { bytesOperation, type ErrorCase, jsonOperation, type Path } from '../operation.ts';
import { EXAMPLE_IMAGE_SIGNING_KEY, ImageSigningKey } from '../schemas/image-signing.ts';
import { PlaybackToken } from '../schemas/playback.ts';

const variantQuery = {
  ...IMAGE_EDIT_PARAMETERS,
  dpr: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 4,
      description: 'Pixels per CSS pixel: multiplies `w` and `h`. With a signature or a preset only.',
    }),
  ),
  preset: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9_-]{1,32}$',
      description:
        'A variant that the operator has named (`IMAGE_PRESETS`). It needs no signature; only `format`, ' +
        '`dpr` and `v` may stand beside it.',
    }),
  ),
  s: Type.Optional(
    Type.String({
      description:
        'Signature, which allows any size and edit: the HMAC-SHA256 of `<id>?<parameters>` with the key ' +
        'of `getImageSigningKey`, in base64url without padding. The parameters are all but `s` and `v`, in ' +
        'alphabetical order, as `name=value` joined by `&`, not percent-encoded.',
    }),
  ),
  v: Type.Optional(
    Type.String({
      description:
        'Version, as in the image URL of `getPlayback`. With the current one, caches keep a ' +
        'public image for an hour, else for five minutes.',
    }),
  ),
};

const VariantQuery = Type.Object(variantQuery);
export const VariantWithTokenQuery = Type.Object({
  ...variantQuery,
  token: PlaybackToken,
});
export type VariantWithTokenQuery = Static<typeof VariantWithTokenQuery>;

const ERRORS: readonly ErrorCase[] = [
  {
    code: 'BAD_REQUEST',
    reason: 'unsupported_value',
    when: 'The size is not offered; `details.allowed` lists what is.',
  },
  {
    code: 'BAD_REQUEST',
    reason: 'unsupported_value',
    when: 'The crop or the preset is not offered; `details.allowed` lists what is.',
  },
  {
    code: 'BAD_REQUEST',
    reason: 'not_with_preset',
    when: 'A parameter stands beside `preset`, which says it already.',
  },
  {
    code: 'UNAUTHORIZED',
    reason: 'missing',
    when: 'The parameter that `details.field` names needs a signature.',
  },
  {
    code: 'UNAUTHORIZED',
    reason: 'bad_signature',
    when: '`s` does not sign these parameters of this asset.',
  },
  { code: 'UNAUTHORIZED', reason: 'expired', when: 'The playback token has expired.' },
  { code: 'UNAUTHORIZED', reason: 'invalid_credential', when: 'The playback token is wrong.' },
  {
    code: 'NOT_FOUND',
    when: 'Unknown, deleted, private without a token, not an image, or not ready yet.',
  },
  { code: 'UNAVAILABLE', reason: 'busy', when: 'Too many variants are being rendered.' },
];

const imageOperation = <P extends Path, Q extends TObject>(
  id: string,
  path: P,
  { summary, query }: { summary: string; query: Q },
) =>
  bytesOperation({
    id,
    method: 'GET',
    path,
    tag: 'Player files',
    auth: 'playback',
    requestExample: { query: { w: 640, format: 'webp' }, output: 'launch.webp' },
    summary,
    description:
      'Returns an image, or the poster of a video that this service encoded: upright, in sRGB, without ' +
      'metadata, never larger than the original. An animation is not rotated by its EXIF data. Without ' +
      '`format`, the format is AVIF, WebP, JPEG, PNG or GIF, by `Accept`. A variant that cannot be ' +
      'rendered in time or stored is replaced by a cheaper one; `X-Image-Substitute` contains the reason. ' +
      'Caches may serve a public image for up to one hour after its asset became private.',
    query,
    requestHeaders: ['Accept', 'Range', 'If-None-Match'],
    response: {
      mediaTypes: ['image/avif', 'image/webp', 'image/jpeg', 'image/png', 'image/gif'],
      description: 'The variant.',
    },
    responseHeaders: {
      'X-Image-Substitute':
        'Why the response is a cheaper variant than the requested one: for example `too_demanding` or ' +
        '`storage_limit`.',
    },
    otherResponses: {
      206: 'The requested range.',
      302: 'Redirect to the next allowed size, or to the path with the token.',
      304: 'Not modified.',
      416: 'The range lies outside the file.',
    },
    errors: ERRORS,
  });

export const getImage = imageOperation('getImage', '/api/v1/playback/{id}/image', {
  summary: 'Get a public image',
  query: VariantWithTokenQuery,
});

export const getPrivateImage = imageOperation('getPrivateImage', '/api/v1/playback/{id}/~{token}/image', {
  summary: 'Get a private image',
  query: VariantQuery,
});

export const getImageSigningKey = jsonOperation({
  id: 'getImageSigningKey',
  method: 'GET',
  path: '/api/v1/image-signing-key',
  tag: 'Playback',
  auth: 'service',
  summary: 'Get the key that signs image URLs',
  description:
    'A back end signs URLs of images with it, in any size and with edits (`s` of `getImage`), without a ' +
    'request for each. Fetch it at the start, and again when a URL is refused: it changes with ' +
    '`URL_SIGNING_SECRET`, and that of `URL_SIGNING_SECRET_PREVIOUS` stays valid. It opens no private ' +
    'image. Keep it out of pages: its holder decides what the service renders.',
  message: 'Image signing key',
  data: ImageSigningKey,
  example: EXAMPLE_IMAGE_SIGNING_KEY,
});
