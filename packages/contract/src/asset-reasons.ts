// Reasons for which a request on the file of an asset is refused.

/** `details.reason`. */
export const ASSET_REASONS = {
  other_kind: {
    codes: ['BAD_REQUEST'],
    description: 'The new file is of another kind than the asset: image, video or audio.',
  },
  replacement_in_progress: {
    codes: ['CONFLICT'],
    description: 'The asset has a replacement that has not failed. Wait for it, or delete it.',
  },
  is_replacement: {
    codes: ['CONFLICT'],
    description: 'The asset is a replacement itself. Replace the asset that `version_of` names.',
  },
  no_previous_version: {
    codes: ['CONFLICT'],
    description: 'No previous file of the asset is kept: none was replaced, or its time has passed.',
  },
  not_video: { codes: ['CONFLICT'], description: 'The operation needs a video; the asset is an image.' },
  not_stored_here: {
    codes: ['CONFLICT'],
    description: 'A hosted provider stores the video, so the service cannot read its original.',
  },
  duration_unknown: {
    codes: ['CONFLICT'],
    description: 'The duration of the video is not known yet. Try again when it is `ready`.',
  },
  not_encoded_here: {
    codes: ['CONFLICT'],
    description: 'Captions need a video that this service encodes. Add them at the video provider instead.',
  },
  invalid_captions: {
    codes: ['BAD_REQUEST'],
    description: 'The file is neither WebVTT nor SubRip, or has an error; `line` says where.',
  },
  too_many_captions: {
    codes: ['CONFLICT'],
    description: 'The asset has captions in `limit` languages. Delete one first.',
  },
  no_download: { codes: ['NOT_FOUND'], description: 'The provider offers no file for download.' },
} as const;
