// Sized variants of images.
import { type TObject, Type } from 'typebox';
import { IMAGE_CROPS, IMAGE_FITS, IMAGE_FORMATS, IMAGE_WIDTHS } from '../enums.ts';
import { bytesOperation, type ErrorCase, type Path } from '../operation.ts';
import { PlaybackToken } from '../schemas/playback.ts';

const LENGTHS =
  `One of ${IMAGE_WIDTHS.join(', ')}. ` +
  `Other values up to ${IMAGE_WIDTHS.at(-1)} redirect to the next larger one.`;

const variantQuery = {
  w: Type.Optional(
    Type.Integer({ minimum: 1, description: `Maximum width in pixels. ${LENGTHS}`, examples: [640] }),
  ),
  h: Type.Optional(Type.Integer({ minimum: 1, description: `Maximum height in pixels. ${LENGTHS}` })),
  fit: Type.Optional(
    Type.Enum([...IMAGE_FITS], {
      description:
        '`inside` (default): fits into the box. `cover`: fills the box and crops. ' +
        '`contain`: fits and pads. ' +
        `\`cover\` and \`contain\` need \`w\` and \`h\` in the ratio ${IMAGE_CROPS.join(' or ')}.`,
    }),
  ),
  format: Type.Optional(
    Type.Enum([...IMAGE_FORMATS], { description: 'Default: the best that `Accept` names.' }),
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

const ERRORS: readonly ErrorCase[] = [
  {
    code: 'BAD_REQUEST',
    reason: 'unsupported_value',
    when: 'The size is not offered; `details.allowed` lists what is.',
  },
  {
    code: 'BAD_REQUEST',
    reason: 'unsupported_value',
    when: 'The crop is not offered; `details.allowed` lists what is.',
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
