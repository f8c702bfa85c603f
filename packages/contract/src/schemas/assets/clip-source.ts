// Where a clip comes from.
import { type Static, Type } from 'typebox';
import { AssetId } from '../common.ts';

export const ClipSource = Type.Object(
  {
    id: AssetId,
    start_ms: Type.Integer({ description: 'Start of the part in milliseconds.' }),
    end_ms: Type.Integer({ description: 'End of the part in milliseconds.' }),
  },
  {
    $id: 'ClipSource',
    description:
      'The video that a clip was cut from (`POST /api/v1/media/{id}/clip`), and which part of it. It stays ' +
      'when that video is deleted. Null for other assets.',
  },
);

export type ClipSource = Static<typeof ClipSource>;
