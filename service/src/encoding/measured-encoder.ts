// Measures how fast an encoder is, and traces what it does.
import { type Metrics, secondsSince } from '../platform/observability/metrics.ts';
import type { SpanStart } from '../platform/observability/trace-span.ts';
import { spanned } from '../platform/observability/tracing.ts';
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

/** Failed encodes are traced, and not measured. */
export function measureEncoder(encoder: Encoder, metrics: Metrics): Encoder {
  const observe = (phase: Phase, filmMs: number, startMs: number) =>
    metrics.observe(SPEED, { phase }, filmMs / 1000 / secondsSince(startMs));
  return {
    ...encoder,
    encodeAudio: (request) => spanned(spanOf('encode audio'), () => encoder.encodeAudio(request)),
    startEncode: async (request) => {
      const startMs = performance.now();
      const started = await spanned(spanOf('encode first'), () => encoder.startEncode(request));
      const { durationMs } = 'encoding' in started ? started.encoding : started.checkpoint;
      observe('first', durationMs, startMs);
      return started;
    },
    continueEncode: async (request) => {
      const startMs = performance.now();
      const encoding = await spanned(spanOf('encode rest'), () => encoder.continueEncode(request));
      observe('rest', encoding.durationMs, startMs);
      return encoding;
    },
    encodeChunk: async (request) => {
      const startMs = performance.now();
      const chunk = await spanned(spanOf('encode chunk'), () => encoder.encodeChunk(request));
      observe('chunk', chunkMs(request.spec), startMs);
      return chunk;
    },
    createPoster: (request) => spanned(spanOf('create poster'), () => encoder.createPoster(request)),
    createExtra: (request) => spanned(spanOf(`create ${request.kind}`), () => encoder.createExtra(request)),
    extractSubtitles: (request) =>
      spanned(spanOf('extract subtitles'), () => encoder.extractSubtitles(request)),
    extractClosedCaptions: (request) =>
      spanned(spanOf('extract closed captions'), () => encoder.extractClosedCaptions(request)),
    cut: (request) => spanned(spanOf('cut'), () => encoder.cut(request)),
  };
}

const spanOf = (name: string): SpanStart => ({ name, kind: 'internal' });

const chunkMs = ({ timeline, chunk }: ChunkSpec): number =>
  secondsOf(timeline.frameRate, chunk.frames) * 1000;
