// Decides which videos are encrypted on their way to players, and which of their files are not (contract B5).
import { WAVEFORM } from '../storage/object-key.ts';
import type { Asset } from './asset.ts';

export const SEGMENT_ENCRYPTIONS = ['off', 'private'] as const;
/** `private`: of the private videos that the service encoded. */
export type SegmentEncryption = (typeof SEGMENT_ENCRYPTIONS)[number];

export const isEncrypted = (
  setting: SegmentEncryption,
  { visibility, playback }: Pick<Asset, 'visibility' | 'playback'>,
): boolean => setting === 'private' && visibility === 'private' && playback?.kind === 'own';

const PICTURE_OR_TEXT = /\.(?:jpg|webp|vtt)$/;

/** Thumbnails, waveforms, storyboards, previews and captions, which are served as they are stored. */
export const isNeverEncrypted = (file: string): boolean => PICTURE_OR_TEXT.test(file) || file === WAVEFORM;
