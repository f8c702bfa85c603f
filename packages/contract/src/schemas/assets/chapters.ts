// Chapters of a video: where each one starts, and what it is called.
import { type Static, Type } from 'typebox';

export const MAX_CHAPTERS = 100;
export const MAX_CHAPTER_TITLE = 200;

export const Chapter = Type.Object(
  {
    start_ms: Type.Integer({
      minimum: 0,
      maximum: 2 ** 31 - 1,
      description: 'Where the chapter starts, in milliseconds from the start of the video.',
    }),
    title: Type.String({ minLength: 1, maxLength: MAX_CHAPTER_TITLE }),
  },
  { $id: 'Chapter', examples: [{ start_ms: 0, title: 'Introduction' }] },
);
export type Chapter = Static<typeof Chapter>;

export const Chapters = Type.Array(Chapter, {
  maxItems: MAX_CHAPTERS,
  description:
    'Chapters of a video in their order. Each ends where the next one starts, the last one at the end of ' +
    'the video. Until you set them, they are those of the file, where this service encodes it.',
  examples: [
    [
      { start_ms: 0, title: 'Introduction' },
      { start_ms: 65_000, title: 'Demo' },
    ],
  ],
});
