// Captions of videos.
import { type Static, Type } from 'typebox';
import { CAPTION_KINDS } from '../enums.ts';
import { NoNextCursor, OwnerUserId, Timestamp } from './common.ts';

const Language = Type.String({
  description:
    'BCP 47, in its canonical form. `und`: the video file does not tell it. Further channels of closed ' +
    'captions have private subtags, such as `und-x-cc3`.',
  examples: ['en', 'pt-BR'],
});
const Kind = Type.Enum([...CAPTION_KINDS], {
  description: '`captions` also describe sounds, for viewers who do not hear them.',
});
const IsDefault = Type.Boolean({ description: 'Players show them unless the viewer chose otherwise.' });

export const Caption = Type.Object(
  {
    language: Language,
    label: Type.String({ description: 'The name in the menu of players.', examples: ['English'] }),
    kind: Kind,
    default: IsDefault,
    source: Type.Enum(['caller', 'embedded'], {
      description: '`embedded`: extracted from the video file.',
    }),
    size_bytes: Type.Integer(),
    updated_at: Timestamp,
  },
  { $id: 'Caption', description: 'Captions of a video in one language.' },
);
export type Caption = Static<typeof Caption>;

export const CaptionList = Type.Object(
  { items: Type.Array(Caption), next_cursor: NoNextCursor },
  { $id: 'CaptionList' },
);
export type CaptionList = Static<typeof CaptionList>;

export const PutCaptionsQuery = Type.Object({
  owner_user_id: OwnerUserId,
  label: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'The name in the menu of players. Default: the name of the language.',
    }),
  ),
  kind: Type.Enum([...CAPTION_KINDS], { default: 'subtitles' }),
  default: Type.Boolean({ default: false, description: 'True clears `default` of the other languages.' }),
});
export type PutCaptionsQuery = Static<typeof PutCaptionsQuery>;

export const DeleteCaptionsQuery = Type.Object({ owner_user_id: OwnerUserId });

export const DeletedCaptions = Type.Object(
  { language: Language, deleted: Type.Literal(true) },
  { $id: 'DeletedCaptions' },
);

export const PlayableCaption = Type.Object(
  {
    language: Language,
    label: Type.String(),
    kind: Kind,
    default: IsDefault,
    url: Type.String({ description: 'WebVTT.' }),
  },
  { $id: 'PlayableCaption' },
);

export const EXAMPLE_CAPTION: Caption = {
  language: 'en',
  label: 'English',
  kind: 'subtitles',
  default: true,
  source: 'caller',
  size_bytes: 48_213,
  updated_at: '2026-11-22T10:15:00.000Z',
};
