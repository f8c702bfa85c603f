// What the original of an asset contains, and the renditions of a video.
import { type Static, Type } from 'typebox';
import { EXTRA_CODECS, HDR_RANGES, RENDITION_STATES } from '../../enums.ts';
import { nullable } from '../common.ts';

const decibels = (what: string) => nullable(Type.Number({ description: `${what} Null if not measured.` }));

const MediaVideo = Type.Object(
  {
    codec: Type.String({ examples: ['h264'] }),
    fps: nullable(Type.Number({ description: 'Average frames per second. Null if unknown.' })),
    hdr: Type.Boolean({ description: 'Whether the transfer function is PQ or HLG.' }),
    bit_depth: Type.Integer({ description: 'Bits per component of a pixel.' }),
  },
  { $id: 'MediaVideo' },
);

const MediaAudio = Type.Object(
  {
    codec: Type.String({ examples: ['aac'] }),
    channels: nullable(Type.Integer()),
    language: nullable(Type.String({ description: 'BCP 47.', examples: ['en'] })),
    loudness_lufs: decibels('Integrated loudness (EBU R128) of the stereo mix in the original.'),
    true_peak_dbtp: decibels('True peak of the stereo mix in the original.'),
    gain_db: nullable(
      Type.Number({
        description:
          'Gain of the stereo rendition in dB (`LOUDNESS_TARGET_LUFS`). Null if it is as loud as the ' +
          'original.',
      }),
    ),
  },
  { $id: 'MediaAudio' },
);

const PhotoLocation = Type.Object(
  {
    latitude: Type.Number({ description: 'Degrees; south is negative.', examples: [52.520008] }),
    longitude: Type.Number({ description: 'Degrees; west is negative.', examples: [13.404954] }),
    altitude_m: nullable(Type.Number({ description: 'Metres above the sea.' })),
  },
  {
    $id: 'PhotoLocation',
    description: 'Where the photo was taken. Null unless the operator sets `PHOTO_LOCATION=on`.',
  },
);

const MediaPhoto = Type.Object(
  {
    camera: nullable(Type.String({ description: 'Maker and model.', examples: ['Apple iPhone 15'] })),
    taken_at: nullable(
      Type.String({
        description: 'Local time of the camera, with its zone if the camera knew it.',
        examples: ['2026-07-01T12:30:00+02:00'],
      }),
    ),
    orientation: Type.Integer({
      minimum: 1,
      maximum: 8,
      description: 'As in EXIF. 1 is upright. Variants are upright, whatever it is.',
    }),
    location: nullable(PhotoLocation),
  },
  {
    $id: 'MediaPhoto',
    description: 'What a camera wrote into an image (EXIF). Null if nothing, and for videos.',
  },
);

export const AssetMedia = Type.Object(
  {
    container: Type.String({
      description:
        '`mov` stands for MP4, M4A and QuickTime, `matroska` for WebM and Matroska. Of an image: its format.',
      examples: ['mov'],
    }),
    video: nullable(MediaVideo),
    audio: Type.Array(MediaAudio, {
      description: 'The tracks that the renditions contain, the default one first.',
    }),
    photo: nullable(MediaPhoto),
  },
  {
    $id: 'AssetMedia',
    description: 'What the original contains, with the names of ffmpeg.',
  },
);

export type AssetMedia = Static<typeof AssetMedia>;

export const Rendition = Type.Object(
  {
    height: Type.Integer({ description: 'Pixels.' }),
    codec: nullable(Type.Enum([...EXTRA_CODECS], { description: 'Null for H.264 and for hosted videos.' })),
    dynamic_range: nullable(
      Type.Enum([...HDR_RANGES], {
        description: 'Of renditions in HDR (`HDR_CODECS`). Null for SDR and for hosted videos.',
      }),
    ),
    width: nullable(Type.Integer({ description: 'Pixels. Null if unknown.' })),
    state: Type.Enum([...RENDITION_STATES]),
    bitrate: nullable(Type.Number({ description: 'Average, in bits per second. Null until known.' })),
  },
  { $id: 'Rendition' },
);
