// Cutting clips: the request.
import { type Static, Type } from 'typebox';
import { CreateUploadRequest } from './uploads.ts';

const { filename, ...shared } = Type.Pick(CreateUploadRequest, [
  'filename',
  'visibility',
  'provider',
  'external_id',
  'title',
  'tags',
  'metadata',
  'access',
  'chapters',
  'expires_at',
  'owner_user_id',
]).properties;

/** The shortest clip. */
export const MIN_CLIP_MS = 500;

export const ClipRequest = Type.Object(
  {
    start_ms: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Where the clip starts in the video, in milliseconds.',
    }),
    end_ms: Type.Integer({
      minimum: MIN_CLIP_MS,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        `Where the clip ends: at least ${MIN_CLIP_MS} ms after \`start_ms\`, and at most at the ` +
        '`duration_ms` of the video.',
    }),
    filename: Type.Optional({
      ...filename,
      description: 'Default: the name of the video with `-clip.mp4` instead of its extension.',
    }),
    ...shared,
  },
  {
    $id: 'ClipRequest',
    examples: [{ start_ms: 12_000, end_ms: 27_500, title: 'The countdown' }],
  },
);

export type ClipRequest = Static<typeof ClipRequest>;
