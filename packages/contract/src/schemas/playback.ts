// URLs for players, viewers and downloads.
import { type Static, Type } from 'typebox';
import { STREAM_STATUSES } from '../enums.ts';
import { EXAMPLE_ASSET } from './assets/asset.ts';
import { PlayableCaption } from './captions.ts';
import { nullable, Timestamp } from './common.ts';

export const PlaybackQuery = Type.Object({
  access: Type.Optional(
    Type.Enum(['token', 'cookie'], {
      description: 'How players of a private asset are authorized. Default: `token`, by the URLs themselves.',
    }),
  ),
});

const url = (description: string) => nullable(Type.String({ description }));

const shared = {
  stream_status: Type.Enum([...STREAM_STATUSES]),
  hls: url('HLS manifest.'),
  dash: url('DASH manifest. Null where segments are encrypted.'),
  thumbnail: url('JPEG.'),
  encryption: nullable(
    Type.Enum(['aes-128'], {
      description:
        'How the segments are encrypted. `aes-128`: players of HLS get the key with the same token or ' +
        'cookie as the segments, and `dash`, `mp4` and `audio` are null. Null: they are not encrypted.',
    }),
  ),
  mp4: url(
    'The video as one MP4 file, at most 1080p. Append `?download=name.mp4` to download it. ' +
      'Null where segments are encrypted, or `access` forbids downloads.',
  ),
  audio: url(
    'The sound as one M4A file. Append `?download=name.m4a` to download it. ' +
      'Null where segments are encrypted, or `access` forbids downloads.',
  ),
  storyboard: url('WebVTT: the sprite and the place in it (`#xywh`) for each part of the video.'),
  preview: url('Animated WebP of a few seconds.'),
  chapters: url(
    'WebVTT with a cue for each chapter, as for `<track kind="chapters">`. Null without chapters.',
  ),
  captions: Type.Array(PlayableCaption, {
    description: 'Captions that the HLS and DASH manifests name too. Empty until the video is playable.',
  }),
  expires_at: nullable(Timestamp),
  image: url('Append `w`, `h`, `fit` and `format` as further query parameters.'),
};

/** Images have none. */
const extras_pending = Type.Boolean({
  description:
    'The service has encoded the asset, and its job for `mp4`, `audio`, `storyboard` and `preview` has not ' +
    'ended. It stays true if the job is cancelled or fails for good. False: do not wait for these members.',
});

const VideoPlayback = Type.Object(
  {
    kind: Type.Literal('video'),
    ...shared,
    extras_pending,
    frame: url('Append `?t=` (seconds, as in `12.5`) and `&w=` (width) for the frame at any time.'),
    embed: url('A page with a player, for an `<iframe>`. Null without HLS.'),
  },
  { $id: 'VideoPlayback', description: 'Playback URLs of a video; null for formats that are not available.' },
);

const AudioPlayback = Type.Object(
  {
    kind: Type.Literal('audio'),
    ...shared,
    extras_pending,
    waveform: url(
      'JSON in the format of BBC audiowaveform (`version` 2, `channels` 1, `bits` 8). It has the lowest ' +
        'and the highest sample of up to 1800 parts of the sound.',
    ),
    embed: url('A page with a player, for an `<iframe>`. Null without HLS.'),
  },
  {
    $id: 'AudioPlayback',
    description:
      'Playback URLs of an audio asset; null for formats that are not available. `thumbnail` is the cover ' +
      'of the file, else a picture of the waveform. `mp4`, `storyboard` and `preview` are null.',
  },
);

const ImagePlayback = Type.Object(
  { kind: Type.Literal('image'), ...shared },
  { $id: 'ImagePlayback', description: 'URLs of an image and of its sized variants.' },
);

export const Playback = Type.Union([VideoPlayback, ImagePlayback, AudioPlayback], {
  $id: 'Playback',
  discriminator: { propertyName: 'kind' },
});
export type Playback = Static<typeof Playback>;

const BASE = `https://media.example.com/api/v1/playback/${EXAMPLE_ASSET.id}/~1795422000.Jq…`;

export const EXAMPLE_PLAYBACK: Playback = {
  kind: 'video',
  stream_status: 'ready',
  hls: `${BASE}/hls.m3u8`,
  dash: `${BASE}/dash.mpd`,
  thumbnail: `${BASE}/thumb.jpg`,
  encryption: null,
  mp4: `${BASE}/video.mp4`,
  audio: `${BASE}/audio.m4a`,
  storyboard: `${BASE}/storyboard.vtt`,
  preview: `${BASE}/preview.webp`,
  chapters: `${BASE}/chapters.vtt?v=5f1c9a02`,
  captions: [
    {
      language: 'en',
      label: 'English',
      kind: 'subtitles',
      default: true,
      url: `${BASE}/captions/en.vtt?v=0199f5b2c3d4`,
    },
  ],
  expires_at: '2026-11-22T16:20:00.000Z',
  image: `${BASE}/image?v=1`,
  extras_pending: false,
  frame: `${BASE}/frame.jpg`,
  embed: `${BASE}/embed`,
};

export const DownloadUrl = Type.Object(
  {
    url: nullable(Type.String({ description: 'Null while the provider prepares the file.' })),
    state: Type.Enum(['ready', 'preparing'], {
      description: '`preparing`: the provider makes the file. Ask again after `retry_after_s` seconds.',
    }),
    expires_at: nullable(Timestamp),
    filename: Type.String(),
    retry_after_s: nullable(
      Type.Integer({ description: 'Seconds, with `preparing`; also in the header `Retry-After`.' }),
    ),
  },
  { $id: 'DownloadUrl', description: 'A signed URL of the original file, or of the MP4 of a provider.' },
);
export type DownloadUrl = Static<typeof DownloadUrl>;

export const EXAMPLE_DOWNLOAD: DownloadUrl = {
  url: `https://media.example.com/api/v1/downloads/${EXAMPLE_ASSET.id}?ticket=1795403700.Zm…`,
  state: 'ready',
  expires_at: '2026-11-22T11:15:00.000Z',
  filename: 'launch.mp4',
  retry_after_s: null,
};

/** A parameter of the fixed paths of players. */
export const PlaybackToken = Type.Optional(
  Type.String({ description: 'Redirects to the path that carries the token.' }),
);
