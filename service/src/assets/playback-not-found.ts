// The one 404 of all playback paths, so that it says nothing of why (contract B5).
import { notFound, type ServiceError } from '../platform/errors.ts';

export const playbackNotFound = (): ServiceError =>
  notFound('Not found. Private assets play through the URLs of GET /api/v1/media/{id}/playback.');
