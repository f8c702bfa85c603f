// Streams and frames of sources for tests.
import type { FrameFacts, SourceStream } from './source.ts';

/** A frame in SDR. */
export const FRAME: FrameFacts = {
  displaySize: { width: 640, height: 360 },
  frameRate: null,
  interlaced: false,
  transfer: 'sdr',
  primaries: 'bt709',
  bitDepth: 8,
  startSeconds: 0,
  peakNits: null,
  matrix: 'bt709',
  fullRange: false,
  pixelFormat: 'yuv420p',
};

/** Stereo in AAC. */
export const audioStream = (index: number, more: Partial<SourceStream> = {}): SourceStream => ({
  index,
  kind: 'Audio',
  codec: 'aac',
  size: null,
  averageRate: null,
  channels: 2,
  still: false,
  ...more,
});
