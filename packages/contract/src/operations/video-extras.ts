// Files that a video or audio asset has beside its manifests, and the frame at any time.
import { type TObject, Type } from 'typebox';
import { bytesOperation, type ErrorCase, type Path } from '../operation.ts';
import { PlaybackToken } from '../schemas/playback.ts';
import { TICKET_ERRORS } from '../ticket-errors.ts';

const Download = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Browsers save the file under this name instead of playing it.',
    examples: ['holiday.mp4'],
  }),
);

const NOT_MADE: ErrorCase = {
  code: 'NOT_FOUND',
  when: 'Unknown, deleted, private without a token, or not made (yet): see `getPlayback`.',
};

const OTHER_RESPONSES = {
  206: 'The requested range.',
  302:
    'Redirect to the path with the token. MP4 and M4A also redirect to a signed URL of the object store, ' +
    'where the operator chose that.',
  304: 'Not modified.',
  416: 'The range lies outside the file.',
} as const;

const Waveform = Type.Object(
  {
    version: Type.Literal(2),
    channels: Type.Literal(1),
    sample_rate: Type.Integer({ description: 'Samples per second.' }),
    samples_per_pixel: Type.Integer({ description: 'Samples of a part.' }),
    bits: Type.Literal(8),
    length: Type.Integer({ description: 'Number of parts, at most 1800.' }),
    data: Type.Array(Type.Integer({ minimum: -128, maximum: 127 }), {
      description: 'Two for each part: its lowest and its highest sample.',
    }),
  },
  { $id: 'Waveform', description: 'The format of BBC audiowaveform, version 2.' },
);

const WAVEFORM_EXAMPLE = {
  version: 2,
  channels: 1,
  sample_rate: 48_000,
  samples_per_pixel: 5069,
  bits: 8,
  length: 3,
  data: [-12, 14, -60, 63, -31, 29],
} as const;

const FILES = [
  {
    name: 'Storyboard',
    file: 'storyboard.vtt',
    type: 'text/vtt',
    subject: 'video',
    summary: 'Get the storyboard of a',
    description: 'WebVTT whose cues name a JPEG sprite, relative to this file, and a place in it by `#xywh`.',
  },
  {
    name: 'Preview',
    file: 'preview.webp',
    type: 'image/webp',
    subject: 'video',
    summary: 'Get the preview of a',
    description: 'A few seconds from several places, without sound, at most 480 pixels wide.',
  },
  {
    name: 'Mp4',
    file: 'video.mp4',
    type: 'video/mp4',
    subject: 'video',
    summary: 'Get the MP4 file of a',
    description: 'The largest rendition up to 1080p with its sound, for downloads and simple players.',
  },
  {
    name: 'AudioFile',
    file: 'audio.m4a',
    type: 'audio/mp4',
    subject: 'video',
    summary: 'Get the sound of a',
    description: 'The sound track; 404 for a video without sound.',
  },
  {
    name: 'Waveform',
    file: 'waveform.json',
    type: 'application/json',
    subject: 'audio',
    summary: 'Get the waveform of',
    description:
      'Of audio assets: JSON in the format of BBC audiowaveform, version 2, for peaks.js and ' +
      'wavesurfer.js. The body is that format, without the envelope.',
    json: { data: Waveform, example: WAVEFORM_EXAMPLE },
  },
] as const;

type ExtraFile = (typeof FILES)[number];

const jsonOf = (file: ExtraFile) => ('json' in file ? { json: file.json } : {});

const fileOperation = <P extends Path, Q extends TObject>(
  extra: ExtraFile,
  { id, path, query, whose }: { id: string; path: P; query: Q; whose: 'public' | 'private' },
) =>
  bytesOperation({
    id,
    method: 'GET',
    path,
    tag: 'Player files',
    auth: 'playback',
    ...(whose === 'private' && { rateClass: 'none' as const }),
    summary: `${extra.summary} ${whose} ${extra.subject}`,
    description: extra.description,
    query,
    requestHeaders: ['Range', 'If-None-Match'],
    response: { mediaTypes: [extra.type], description: extra.description, ...jsonOf(extra) },
    otherResponses: OTHER_RESPONSES,
    errors: [...TICKET_ERRORS, NOT_MADE],
  });

export const publicExtraOperations = FILES.map((extra) =>
  fileOperation(extra, {
    id: `get${extra.name}`,
    path: `/api/v1/playback/{id}/${extra.file}`,
    query: Type.Object({ token: PlaybackToken, download: Download }),
    whose: 'public',
  }),
);

export const privateExtraOperations = FILES.map((extra) =>
  fileOperation(extra, {
    id: `getPrivate${extra.name}`,
    path: `/api/v1/playback/{id}/~{token}/${extra.file}`,
    query: Type.Object({ download: Download }),
    whose: 'private',
  }),
);

/** The widths of frames; few, because each frame may be stored. */
export const FRAME_WIDTHS = [160, 320, 480, 640, 960, 1280, 1920] as const;

const frameQuery = {
  t: Type.Number({
    minimum: 0,
    description: 'Time in seconds, up to the duration of the video; rounded to tenths of a second.',
    examples: [12.5],
  }),
  w: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        `Width in pixels: one of ${FRAME_WIDTHS.join(', ')}; default 640. Other values up to ` +
        `${FRAME_WIDTHS.at(-1)} redirect to the next larger one. A frame is never enlarged.`,
      examples: [640],
    }),
  ),
};

const FrameQuery = Type.Object(frameQuery);
export const FrameWithTokenQuery = Type.Object({ ...frameQuery, token: PlaybackToken });

const frameOperation = <P extends Path, Q extends TObject>(
  id: string,
  path: P,
  { query, whose }: { query: Q; whose: string },
) =>
  bytesOperation({
    id,
    method: 'GET',
    path,
    tag: 'Player files',
    auth: 'playback',
    summary: `Get a frame of a ${whose} video`,
    description:
      'A JPEG of a video that this service encoded, rendered on its first request and stored. Each video ' +
      'has a limit of stored frames, and of frames that are rendered in a minute. Above them the nearest ' +
      'stored frame takes the place of a new one. Load a storyboard for many frames.',
    query,
    requestHeaders: ['Range', 'If-None-Match'],
    response: { mediaTypes: ['image/jpeg'], description: 'The frame.' },
    otherResponses: {
      206: 'The requested range of a stored frame.',
      302:
        'Redirect to the rounded time, to the next larger width, to the path with the token, or to the ' +
        'nearest stored frame.',
      304: 'Not modified.',
      416: 'The range lies outside the file.',
    },
    errors: [
      ...TICKET_ERRORS,
      { code: 'BAD_REQUEST', when: '`t` is missing or after the end of the video; `details.limit` has it.' },
      { code: 'BAD_REQUEST', reason: 'unsupported_value', when: '`w` is larger than any offered width.' },
      { code: 'NOT_FOUND', when: 'Unknown, deleted, private without a token, or not encoded here.' },
      {
        code: 'UNAVAILABLE',
        reason: 'busy',
        when: 'Too many frames are being rendered, and none is stored.',
      },
      {
        code: 'UNAVAILABLE',
        reason: 'encoder_missing',
        when: 'The process runs where ffmpeg is not installed.',
      },
    ],
  });

export const getFrame = frameOperation('getFrame', '/api/v1/playback/{id}/frame.jpg', {
  query: FrameWithTokenQuery,
  whose: 'public',
});

export const getPrivateFrame = frameOperation('getPrivateFrame', '/api/v1/playback/{id}/~{token}/frame.jpg', {
  query: FrameQuery,
  whose: 'private',
});
