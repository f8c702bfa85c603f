// Pictures as viewers ask for them: a size of the set, in the form that they read (contract B5).
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Asset } from '../assets/asset.ts';
import { inline } from '../platform/http/content-disposition.ts';
import type { RawRoute, Route } from '../platform/http/route.ts';
import type { Objects } from '../storage/object-answer.ts';
import { FITS, FORMATS, SIZES } from './image-variant.ts';
import type { Asked, Made } from './images.ts';

export type Gallery = {
  findVisible(id: string, token: string | undefined): Promise<Asset>;
  variantOf(asset: Asset, asked: Asked): Promise<Made>;
  readonly objects: Objects;
};

const Size = Type.Integer({ enum: [...SIZES] });
const Wishes = Type.Object({
  w: Type.Optional(Size),
  h: Type.Optional(Size),
  fit: Type.Optional(Type.Enum([...FITS])),
  format: Type.Optional(Type.Enum([...FORMATS])),
  v: Type.Optional(
    Type.String({
      description:
        'The playback version, as the image URL of GET …/playback names it: lets the answer be kept for good',
    }),
  ),
});
const WithToken = Type.Object({ ...Wishes.properties, token: Type.Optional(Type.String()) });
type Query = Static<typeof WithToken>;

const SUMMARY =
  'A picture, upright, in sRGB and without metadata, no larger than its original; without format= in AVIF, WebP, JPEG, PNG or GIF, as Accept allows';
const ANSWERS = {
  200: 'The bytes',
  206: 'A part of them',
  302: 'To the path that carries the token',
  304: 'Not changed',
  400: 'A size, fit or format that is not offered',
  401: 'The token is wrong or has expired',
  404: 'Private and no token, deleted, unknown, no picture, or not ready',
  416: 'The range lies outside',
  503: 'Too many pictures are being made: try again after Retry-After',
};

export const imageRoutes = (gallery: Gallery): Route[] => [
  raw({
    url: '/playback/:id/image',
    query: WithToken,
    summary: SUMMARY,
    handle: (request, reply) => showFixed(gallery, { request, reply }),
  }),
  raw({
    url: '/playback/:id/~:token/image',
    query: Wishes,
    summary: `${SUMMARY}; of a private asset`,
    handle: (request, reply) => show(gallery, { request, reply }),
  }),
];

const raw = (route: Pick<RawRoute, 'url' | 'query' | 'summary' | 'handle'>): RawRoute => ({
  kind: 'raw',
  method: 'GET',
  body: 'none',
  answers: ANSWERS,
  ...route,
});

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

async function showFixed(gallery: Gallery, { request, reply }: Exchange): Promise<unknown> {
  const { token, ...wishes } = request.query as Query;
  if (token === undefined) return show(gallery, { request, reply });
  const { id } = request.params as { id: string };
  await gallery.findVisible(id, token);
  const query = new URLSearchParams(
    Object.entries(wishes).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return reply
    .header('cache-control', 'no-store')
    .redirect(`/api/v1/playback/${id}/~${encodeURIComponent(token)}/image?${query}`, 302);
}

async function show(
  { findVisible, variantOf, objects }: Gallery,
  { request, reply }: Exchange,
): Promise<unknown> {
  const { id, token } = request.params as { id: string; token?: string };
  const { v, ...wish } = request.query as Query;
  const asset = await findVisible(id, token);
  const { key, type, name } = await variantOf(asset, { wish, accept: request.headers.accept });
  const known = {
    'content-type': type,
    'content-disposition': inline(name),
    'cache-control': `${asset.visibility}, ${v === String(asset.playback_version) ? FOR_GOOD : FOR_AN_HOUR}`,
    ...(wish.format === undefined && { vary: 'Accept' }),
  };
  const { status, headers, body } = await objects.answerWith(
    { request, reply },
    { key, etag: `${asset.id}/${name}`, headers: known },
  );
  return reply.code(status).headers(headers).send(body);
}

/** What is made never changes; an address without a version may still come to mean another picture. */
const FOR_GOOD = 'max-age=31536000, immutable';
const FOR_AN_HOUR = 'max-age=3600';
