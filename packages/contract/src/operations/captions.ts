// Operations on the captions of a video.
import { bytesOperation, type ErrorCase, jsonOperation } from '../operation.ts';
import {
  Caption,
  CaptionList,
  DeleteCaptionsQuery,
  DeletedCaptions,
  EXAMPLE_CAPTION,
  PutCaptionsQuery,
} from '../schemas/captions.ts';
import { ASSET_ERRORS } from './media.ts';

export const CAPTION_TYPES = ['text/vtt', 'application/x-subrip', 'text/srt', 'text/plain'] as const;
export const MAX_CAPTION_BYTES = 1024 * 1024;
export const MAX_CAPTION_LANGUAGES = 50;

const NO_CAPTIONS: ErrorCase = { code: 'NOT_FOUND', when: 'The asset has no captions in this language.' };

export const putCaptions = bytesOperation({
  id: 'putCaptions',
  method: 'PUT',
  path: '/api/v1/media/{id}/captions/{lang}',
  tag: 'Captions',
  auth: 'caller',
  summary: 'Store captions of one language',
  description:
    'The body is WebVTT or SubRip in UTF-8, at most 1 MiB. The service stores it as WebVTT, without ' +
    'styles, regions, comments and tags that players do not need. `lang` is a BCP 47 tag such as `en` or ' +
    '`pt-BR`. Captions can be added before, during and after encoding; the HLS and DASH manifests name ' +
    'them from then on. Only videos that this service encodes have captions.',
  query: PutCaptionsQuery,
  requestExample: {
    query: { label: 'English' },
    headers: { 'Content-Type': 'text/vtt' },
    file: 'captions.vtt',
  },
  requestHeaders: ['Content-Type'],
  body: {
    mediaTypes: CAPTION_TYPES,
    description: 'The captions.',
    example: 'WEBVTT\n\n00:01.000 --> 00:03.000\nHello\n',
  },
  message: 'Captions stored',
  data: Caption,
  example: EXAMPLE_CAPTION,
  errors: [
    ...ASSET_ERRORS,
    { code: 'BAD_REQUEST', when: '`lang` is not a BCP 47 language tag.' },
    {
      code: 'BAD_REQUEST',
      reason: 'invalid_captions',
      when: 'The file is neither WebVTT nor SubRip, or has an error; `line` says where.',
    },
    { code: 'CONFLICT', reason: 'not_encoded_here', when: 'The asset is no video of this encoder.' },
    { code: 'CONFLICT', reason: 'too_many_captions', when: 'The asset has captions in 50 languages.' },
    {
      code: 'CONFLICT',
      reason: 'legal_hold',
      when: 'The asset is under a legal hold and has captions in this language.',
    },
    { code: 'PAYLOAD_TOO_LARGE', reason: 'size_above_limit', when: 'The body is larger than 1 MiB.' },
    { code: 'UNAVAILABLE', reason: 'disk_full', when: 'Less than `MIN_FREE_BYTES` is free.' },
  ],
});

export const listCaptions = jsonOperation({
  id: 'listCaptions',
  method: 'GET',
  path: '/api/v1/media/{id}/captions',
  tag: 'Captions',
  auth: 'caller',
  summary: 'List captions',
  description: 'Lists the captions of an asset.',
  message: 'Captions',
  data: CaptionList,
  example: { items: [EXAMPLE_CAPTION], next_cursor: null },
  errors: ASSET_ERRORS,
});

export const getCaptions = bytesOperation({
  id: 'getCaptions',
  method: 'GET',
  path: '/api/v1/media/{id}/captions/{lang}',
  tag: 'Captions',
  auth: 'caller',
  summary: 'Get captions of one language',
  description: 'Returns the stored captions of one language.',
  requestHeaders: ['Range', 'If-None-Match'],
  response: { mediaTypes: ['text/vtt'], description: 'WebVTT.' },
  otherResponses: {
    206: 'The requested range.',
    304: 'Not modified.',
    416: 'The range lies outside the file.',
  },
  errors: [...ASSET_ERRORS, NO_CAPTIONS],
});

export const deleteCaptions = jsonOperation({
  id: 'deleteCaptions',
  method: 'DELETE',
  path: '/api/v1/media/{id}/captions/{lang}',
  tag: 'Captions',
  auth: 'caller',
  summary: 'Delete captions of one language',
  description: 'Deletes the captions of one language.',
  query: DeleteCaptionsQuery,
  message: 'Captions deleted',
  data: DeletedCaptions,
  example: { language: 'en', deleted: true },
  errors: [
    ...ASSET_ERRORS,
    NO_CAPTIONS,
    { code: 'CONFLICT', reason: 'legal_hold', when: 'The asset is under a legal hold.' },
  ],
});
