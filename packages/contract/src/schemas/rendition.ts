// A rendition of a video, in the asset.
import { Type } from 'typebox';
import { EXTRA_CODECS, HDR_RANGES, RENDITION_STATES } from '../enums.ts';
import { nullable } from './common.ts';

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
