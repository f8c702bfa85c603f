// Measures how fast an encoder is.
import { type Metrics, secondsSince } from '../platform/observability/metrics.ts';
import type { Encoder } from './encoder.ts';
import type { ChunkSpec } from './plan/ladder/chunk-plan.ts';
import { secondsOf } from './plan/source/source-timeline.ts';

const SPEED = {
  name: 'mediary_encode_speed_ratio',
  help: 'Seconds of film that an encode takes per second, by phase: first, rest, or chunk of a long video.',
  labels: ['phase'],
  buckets: [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64],
} as const;

type Phase = 'first' | 'rest' | 'chunk';

/** Failed encodes are not measured. */
export function measureEncoder(encoder: Encoder, metrics: Metrics): Encoder {
  const observe = (phase: Phase, filmMs: number, startMs: number) =>
    metrics.observe(SPEED, { phase }, filmMs / 1000 / secondsSince(startMs));
  return {
    ...encoder,
    startEncode: async (request) => {
      const startMs = performance.now();
      const started = await encoder.startEncode(request);
      const { durationMs } = 'encoding' in started ? started.encoding : started.checkpoint;
      observe('first', durationMs, startMs);
      return started;
    },
    continueEncode: async (request) => {
      const startMs = performance.now();
      const encoding = await encoder.continueEncode(request);
      observe('rest', encoding.durationMs, startMs);
      return encoding;
    },
    encodeChunk: async (request) => {
      const startMs = performance.now();
      const chunk = await encoder.encodeChunk(request);
      observe('chunk', chunkMs(request.spec), startMs);
      return chunk;
    },
  };
}

const chunkMs = ({ timeline, chunk }: ChunkSpec): number =>
  secondsOf(timeline.frameRate, chunk.frames) * 1000;
