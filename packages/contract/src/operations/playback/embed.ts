// The page with a player for other sites, its scripts, and oEmbed.
import { type TObject, Type } from 'typebox';
import { bytesOperation, type Path } from '../../operation.ts';
import { EXAMPLE_ASSET } from '../../schemas/assets/asset.ts';
import { PlaybackToken } from '../../schemas/playback.ts';
import { TICKET_ERRORS } from '../../ticket-errors.ts';

const HTML = { mediaTypes: ['text/html'], description: 'The page.' } as const;

const EmbedQuery = Type.Object({ token: PlaybackToken });

const embedOperation = <P extends Path, Q extends TObject>(
  id: string,
  path: P,
  { query, whose }: { query: Q; whose: string },
) =>
  bytesOperation({
    id,
    method: 'GET',
    path,
    tag: 'Player files',
    auth: 'playback',
    summary: `Get the page of a ${whose} video`,
    description:
      'For an `<iframe>` on any site that `EMBED_FRAME_ANCESTORS` allows. Browsers that do not play HLS ' +
      'load hls.js from this service. Pages of public videos have Open Graph and Twitter tags, and a link ' +
      'to oEmbed.',
    query,
    requestHeaders: ['If-None-Match'],
    response: HTML,
    otherResponses: { 302: 'Redirect to the path with the token.', 304: 'Not modified.' },
    responseHeaders: { 'Content-Security-Policy': 'What the page may load, and who may embed it.' },
    errors: [
      ...TICKET_ERRORS,
      {
        code: 'NOT_FOUND',
        when: 'Unknown, deleted, private without a token or cookie, an image, or nothing to play yet.',
      },
    ],
  });

export const getEmbed = embedOperation('getEmbed', '/api/v1/playback/{id}/embed', {
  query: EmbedQuery,
  whose: 'public',
});

export const getPrivateEmbed = embedOperation('getPrivateEmbed', '/api/v1/playback/{id}/~{token}/embed', {
  query: Type.Object({}),
  whose: 'private',
});

const ScriptQuery = Type.Object({
  v: Type.Optional(
    Type.String({ description: 'Version. With the current one, caches keep the script for a year.' }),
  ),
});

const scriptOperation = <P extends Path>(id: string, path: P, summary: string) =>
  bytesOperation({
    id,
    method: 'GET',
    path,
    tag: 'Player files',
    auth: 'playback',
    summary,
    query: ScriptQuery,
    requestHeaders: ['If-None-Match'],
    response: { mediaTypes: ['text/javascript'], description: 'The script.' },
    otherResponses: { 304: 'Not modified.' },
  });

export const getPlayerScript = scriptOperation(
  'getPlayerScript',
  '/api/v1/playback/player.js',
  'Get the script of embed pages',
);
export const getHlsScript = scriptOperation(
  'getHlsScript',
  '/api/v1/playback/hls.js',
  'Get hls.js for embed pages',
);

export const getElementFile = bytesOperation({
  id: 'getElementFile',
  method: 'GET',
  path: '/api/v1/playback/elements/{version}/{file}',
  tag: 'Player files',
  auth: 'playback',
  summary: 'Get a script of the web components',
  description:
    '`player.js` defines `<mediary-player>`; the other files are its chunks. Pages of any origin may load ' +
    'it. `version` is `latest`, or the one that the embed page names, with which caches keep the file for ' +
    'a year. 404 where the service runs without the built package.',
  requestHeaders: ['If-None-Match'],
  response: { mediaTypes: ['text/javascript'], description: 'The script.' },
  otherResponses: { 304: 'Not modified.' },
  errors: [{ code: 'NOT_FOUND', when: 'There is no such file.' }],
});
export const playerScriptOperations = [getPlayerScript, getHlsScript, getElementFile] as const;

const size = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description }));

const EXAMPLE_EMBED = `https://media.example.com/api/v1/playback/${EXAMPLE_ASSET.id}/embed`;

const OembedQuery = Type.Object({
  url: Type.String({
    description: 'The `embed` URL of a public video of this service.',
    examples: [EXAMPLE_EMBED],
  }),
  maxwidth: size('The player is not wider; default 1280.'),
  maxheight: size('The player is not higher; default 720.'),
  format: Type.Optional(Type.String({ description: 'Only `json` is offered.', examples: ['json'] })),
});

const Oembed = Type.Object(
  {
    version: Type.Literal('1.0'),
    type: Type.Literal('video'),
    title: Type.Optional(Type.String()),
    html: Type.String({ description: 'An `<iframe>` with the page.' }),
    width: Type.Integer(),
    height: Type.Integer(),
    thumbnail_url: Type.Optional(Type.String()),
    thumbnail_width: Type.Optional(Type.Integer()),
    thumbnail_height: Type.Optional(Type.Integer()),
    provider_name: Type.String(),
    provider_url: Type.String(),
    cache_age: Type.Integer({ description: 'Seconds.' }),
  },
  { $id: 'Oembed', description: 'The response of oEmbed 1.0 for a video, without the envelope.' },
);
type OembedQuery = typeof OembedQuery;

export const getOembed = bytesOperation<'/api/v1/oembed', OembedQuery>({
  id: 'getOembed',
  method: 'GET',
  path: '/api/v1/oembed',
  tag: 'Player files',
  auth: 'playback',
  summary: 'Get the oEmbed description',
  description:
    'oEmbed 1.0. The body of a success is that of oEmbed, without the envelope; errors have the envelope.',
  query: OembedQuery,
  response: {
    mediaTypes: ['application/json'],
    description: 'The description.',
    json: {
      data: Oembed,
      example: {
        version: '1.0',
        type: 'video',
        title: 'Launch day',
        html: `<iframe src="${EXAMPLE_EMBED}" width="1280" height="720" allowfullscreen></iframe>`,
        width: 1280,
        height: 720,
        thumbnail_url: `https://media.example.com/api/v1/playback/${EXAMPLE_ASSET.id}/thumb.jpg`,
        thumbnail_width: 1280,
        thumbnail_height: 720,
        provider_name: 'Mediary',
        provider_url: 'https://media.example.com',
        cache_age: 300,
      },
    },
  },
  errors: [
    { code: 'NOT_FOUND', when: '`url` is not the `embed` URL of a public video that plays.' },
    { code: 'NOT_IMPLEMENTED', when: '`format` is not `json`.' },
  ],
});
