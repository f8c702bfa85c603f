// URLs for players, viewers and downloads.
import { type Static, Type } from 'typebox';
import { STREAM_STATUSES } from '../enums.ts';
import { EXAMPLE_ASSET } from './asset.ts';
import { PlayableCaption } from './captions.ts';
import { nullable, Timestamp } from './common.ts';

const url = (description: string) => nullable(Type.String({ description }));

const shared = {
  stream_status: Type.Enum([...STREAM_STATUSES]),
  hls: url('HLS manifest.'),
  dash: url('DASH manifest.'),
  thumbnail: url('JPEG.'),
  mp4: Type.Null({ description: 'Reserved.' }),
  storyboard: Type.Null({ description: 'Reserved.' }),
  captions: Type.Array(PlayableCaption, {
    description: 'Captions that the HLS and DASH manifests name too. Empty until the video is playable.',
  }),
  expires_at: nullable(Timestamp),
};

const Image = Type.String({
  description: 'Append `w`, `h`, `fit` and `format` as further query parameters.',
});

const VideoPlayback = Type.Object(
  { kind: Type.Literal('video'), ...shared, image: Type.Optional(Image) },
  { $id: 'VideoPlayback', description: 'Playback URLs of a video; null for formats that are not available.' },
);

const ImagePlayback = Type.Object(
  { kind: Type.Literal('image'), ...shared, image: Type.Optional(Image) },
  { $id: 'ImagePlayback', description: 'URLs of an image and of its sized variants.' },
);

export const Playback = Type.Union([VideoPlayback, ImagePlayback], {
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
  mp4: null,
  storyboard: null,
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
};

export const DownloadUrl = Type.Object(
  {
    url: nullable(Type.String({ description: 'Null while the provider prepares the file.' })),
    state: Type.Enum(['ready', 'preparing'], {
      description: '`preparing`: the provider makes the file. Ask again after `retry_after` seconds.',
    }),
    expires_at: nullable(Timestamp),
    filename: Type.String(),
    retry_after: Type.Optional(
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
};
