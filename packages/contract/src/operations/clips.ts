// Operations on clips: create a video from a part of another one.
import { jsonOperation } from '../operation.ts';
import { EXAMPLE_NEW_ASSET, Asset } from '../schemas/assets/asset.ts';
import { ClipRequest } from '../schemas/clips.ts';
import { ASSET_ERRORS, EXTERNAL_ID_TAKEN } from './media.ts';

const SOURCE_ID = '019aab7c-0b1a-7d20-8c3e-2f4a6b8c0d1e';

export const createClip = jsonOperation({
  id: 'createClip',
  method: 'POST',
  path: '/api/v1/media/{id}/clip',
  tag: 'Uploads',
  auth: 'caller',
  summary: 'Create a clip of a video',
  description:
    'The new asset starts as `pending_upload` and belongs to the owner of the video. A worker cuts the ' +
    'part from the stored original, exact to a frame, into an MP4 file with all audio tracks and text ' +
    'subtitles. Then it completes the upload by itself, with the same checks. `clip_of` names the video. ' +
    'If the video is deleted before, the clip fails with `clip_source_deleted`; afterwards the clip does ' +
    'not depend on it. Videos that a hosted provider stores cannot be cut.',
  requestHeaders: ['Idempotency-Key'],
  body: ClipRequest,
  isBodyRequired: true,
  message: 'Clip started',
  data: Asset,
  example: {
    ...EXAMPLE_NEW_ASSET,
    filename: 'launch-clip.mp4',
    content_type: 'video/mp4',
    clip_of: { id: SOURCE_ID, start_ms: 12_000, end_ms: 27_500 },
  },
  errors: [
    ...ASSET_ERRORS,
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'A quota of the owner is exceeded.' },
    EXTERNAL_ID_TAKEN,
    { code: 'CONFLICT', reason: 'owner_is_being_erased', when: 'An operator erases this owner.' },
    { code: 'CONFLICT', reason: 'not_video', when: 'The asset is an image.' },
    { code: 'CONFLICT', reason: 'not_stored_here', when: 'A hosted provider stores the video.' },
    { code: 'CONFLICT', reason: 'not_uploaded', when: 'The upload of the video is not completed.' },
    { code: 'CONFLICT', reason: 'wrong_status', when: 'The video has failed.' },
    {
      code: 'CONFLICT',
      reason: 'duration_unknown',
      when: 'The duration of the video is not known before it is `ready`.',
    },
    {
      code: 'CONFLICT',
      reason: 'request_in_progress',
      when: 'A request with this `Idempotency-Key` is running.',
    },
    {
      code: 'CONFLICT',
      reason: 'idempotency_key_reused',
      when: 'The `Idempotency-Key` was used with another request.',
    },
    { code: 'UNAVAILABLE', reason: 'disk_full', when: 'Less than `MIN_FREE_BYTES` is free.' },
  ],
});
