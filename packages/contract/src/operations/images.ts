// Sized variants of images.
import { type TObject, Type } from 'typebox';
import { IMAGE_FITS, IMAGE_FORMATS } from '../enums.ts';
import { bytesOperation } from '../operation.ts';

const variantQuery = {
  w: Type.Optional(Type.Integer({ minimum: 1, description: 'Width in pixels.', examples: [640] })),
  h: Type.Optional(Type.Integer({ minimum: 1, description: 'Height in pixels.' })),
  fit: Type.Optional(
    Type.Enum([...IMAGE_FITS], {
      description: '`inside`: fits into the box. `cover`: fills the box and crops. `contain`: fits and pads.',
    }),
  ),
  format: Type.Optional(
    Type.Enum([...IMAGE_FORMATS], { description: 'Default: the best that `Accept` names.' }),
  ),
  v: Type.Optional(Type.String({ description: 'Playback version; lets caches keep the response.' })),
};

export const VariantQuery = Type.Object(variantQuery);
export const VariantWithTokenQuery = Type.Object({
  ...variantQuery,
  token: Type.Optional(Type.String({ description: 'Redirects to the path that carries the token.' })),
});

const imageOperation = (
  id: string,
  path: `/${string}`,
  { summary, query }: { summary: string; query: TObject },
) =>
  bytesOperation({
    id,
    method: 'GET',
    path,
    tag: 'Playback',
    auth: 'playback',
    summary,
    description: 'Upright, in sRGB, without metadata, never larger than the original.',
    query,
    requestHeaders: ['Accept', 'Range', 'If-None-Match'],
    response: {
      mediaTypes: ['image/avif', 'image/webp', 'image/jpeg', 'image/png', 'image/gif'],
      description: 'The variant.',
    },
    otherResponses: {
      206: 'The requested range.',
      302: 'Redirect to the next allowed size, or to the path with the token.',
      304: 'Not modified.',
      416: 'The range lies outside the file.',
    },
    errors: [
      {
        code: 'BAD_REQUEST',
        when: 'A size, fit or format that is not offered; `details.allowed` lists what is.',
      },
      { code: 'UNAUTHORIZED', when: 'The playback token is wrong or has expired.' },
      {
        code: 'NOT_FOUND',
        when: 'Unknown, deleted, private without a token, not an image, or not ready yet.',
      },
      { code: 'UNAVAILABLE', when: 'Too many variants are being rendered.' },
    ],
  });

export const getImage = imageOperation('getImage', '/api/v1/playback/{id}/image', {
  summary: 'Returns a sized variant of a public image',
  query: VariantWithTokenQuery,
});

export const getPrivateImage = imageOperation('getPrivateImage', '/api/v1/playback/{id}/~{token}/image', {
  summary: 'Returns a sized variant of a private image',
  query: VariantQuery,
});
