// A rendition of a video, in the asset.
import { Type } from 'typebox';
import { EXTRA_CODECS, HDR_RANGES, RENDITION_STATES } from '../enums.ts';
import { nullable } from './common.ts';

export const Rendition = Type.Object(
  {
    height: Type.Integer({ description: 'Pixels.' }),
    codec: Type.Optional(
      Type.Enum([...EXTRA_CODECS], { description: 'Omitted for H.264 and for hosted videos.' }),
    ),
    dynamic_range: Type.Optional(
      Type.Enum([...HDR_RANGES], {
        description: 'Of renditions in HDR (`HDR_CODECS`). Omitted for SDR and for hosted videos.',
      }),
    ),
    width: Type.Optional(Type.Integer({ description: 'Pixels.' })),
    state: Type.Enum([...RENDITION_STATES]),
    bitrate: Type.Optional(
      nullable(Type.Number({ description: 'Average, in bits per second. Null until known.' })),
    ),
  },
  { $id: 'Rendition' },
);
