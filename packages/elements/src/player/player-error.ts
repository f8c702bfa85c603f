// Errors that the player shows: a code for programs and a sentence for viewers.
import type { MediaryError } from '@mediary/client';

const SENTENCES = {
  NO_SOURCE: 'There is no video to play: set the attribute asset or src.',
  INVALID_SOURCE: 'The address of this video is invalid: base-url and src must be http or https URLs.',
  NOT_A_VIDEO: 'This file is not a video.',
  NOT_FOUND: 'This video was not found. It may be private, deleted or not ready yet.',
  FORBIDDEN: 'You may not watch this video.',
  TOKEN_EXPIRED: 'The permission to watch this video has expired. Reload the page.',
  CONNECTION_FAILED: 'The video could not be loaded. Check your connection and try again.',
  ASSET_FAILED: 'This video could not be processed.',
  PLAYER_NOT_LOADED: 'The player could not be loaded. Check your connection and try again.',
  NOT_SUPPORTED: 'This browser cannot play the video.',
  MEDIA_BROKEN: 'The video cannot be played, because a part of it is damaged or not supported.',
} as const;

export type PlayerErrorCode = keyof typeof SENTENCES;

export class PlayerError extends Error {
  override readonly name = 'PlayerError';
  readonly code: PlayerErrorCode;
  constructor(code: PlayerErrorCode, cause?: unknown) {
    super(SENTENCES[code], { cause });
    this.code = code;
  }
}

export function toPlayerError(error: unknown): PlayerError {
  if (error instanceof PlayerError) return error;
  return new PlayerError(isMediaryError(error) ? codeOf(error) : 'CONNECTION_FAILED', error);
}

/** The SDK is a chunk of its own, so that its classes are not known here. */
const isMediaryError = (error: unknown): error is MediaryError =>
  error instanceof Error && 'errorCode' in error;

const codeOf = ({ errorCode, status }: MediaryError): PlayerErrorCode => {
  if (errorCode === 'ASSET_FAILED') return 'ASSET_FAILED';
  return codeOfStatus(errorCode === 'ASSET_DELETED' ? NOT_FOUND : status);
};

const NOT_FOUND = 404;
const CODES: Readonly<Record<number, PlayerErrorCode>> = {
  400: 'NOT_FOUND',
  401: 'TOKEN_EXPIRED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  410: 'NOT_FOUND',
};

/** `status`: of the response; undefined if there was none. */
export const codeOfStatus = (status: number | undefined): PlayerErrorCode =>
  CODES[status ?? 0] ?? 'CONNECTION_FAILED';
