// Settings of the variants of images.
import { choice, integer } from '../platform/settings/setting.ts';
import { imagePresetsSetting } from './variants/image-presets.ts';

export const IMAGE_SETTINGS = {
  title: 'Images',
  settings: {
    maxVariantBytes: integer(
      'MAX_VARIANT_BYTES',
      'Bytes of the stored variants of one image or poster, and of the frames of a video; above the ' +
        'limit a ' +
        'stored variant is served instead of a new one.',
      { fallback: 128 * 1024 ** 2, min: 0, max: 1024 ** 4 },
    ),
    imagePresets: imagePresetsSetting,
    photoLocation: choice(
      'PHOTO_LOCATION',
      'Whether `media.photo.location` of an image tells where it was taken, if the camera wrote it.',
      { choices: ['off', 'on'], fallback: 'off' },
    ),
    variantRetrySeconds: integer(
      'VARIANT_RETRY_S',
      'Seconds after which a variant that could not be rendered is tried again.',
      { fallback: 900, min: 1, max: 30 * 86_400 },
    ),
  },
};
