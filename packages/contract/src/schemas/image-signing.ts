// The key by which back ends sign URLs of images.
import { type Static, Type } from 'typebox';

export const ImageSigningKey = Type.Object(
  {
    key: Type.String({ description: 'The bytes of this text are the key of the HMAC.' }),
    algorithm: Type.Enum(['HMAC-SHA256']),
  },
  { $id: 'ImageSigningKey' },
);
export type ImageSigningKey = Static<typeof ImageSigningKey>;

export const EXAMPLE_IMAGE_SIGNING_KEY: ImageSigningKey = {
  key: 'EXAMPLE-not-a-key-0123456789abcdefghijklmnopq',
  algorithm: 'HMAC-SHA256',
};
