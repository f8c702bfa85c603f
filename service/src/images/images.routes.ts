// Images as viewers request them: a size of the set, in the format that they accept (contract B5).
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { playbackNotFound } from '../assets/playback-not-found.ts';
import type { Asset } from '../assets/asset.ts';
import { badRequest } from '../platform/errors.ts';
import { inline } from '../platform/http/content-disposition.ts';
import type { RawRoute, Route } from '../platform/http/route.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import { CROPS, MAX_LENGTH, roundSize, WIDTHS } from './image-sizes.ts';
import { imageCaching } from './image-source.ts';
import { FITS, FORMATS } from './image-variant.ts';
import type { ServedVariant, VariantRequest } from './images.ts';

export type ImageService = {
  findPlayableAsset(id: string, token: string | undefined): Promise<Asset>;
  findVariant(asset: Asset, request: VariantRequest): Promise<ServedVariant>;
  readonly objects: ObjectResponses;
};

const LENGTHS = `one of ${WIDTHS.join(', ')}; others up to ${MAX_LENGTH} redirect (302) to the next larger one`;
const Query = Type.Object({
  w: Type.Optional(Type.Integer({ minimum: 1, description: `Maximum width in pixels: ${LENGTHS}` })),
  h: Type.Optional(Type.Integer({ minimum: 1, description: `Maximum height in pixels: ${LENGTHS}` })),
  fit: Type.Optional(
    Type.Enum([...FITS], {
      description: `cover and contain need w and h, in the shape of a crop: ${CROPS.join(' or ')}`,
    }),
  ),
  format: Type.Optional(Type.Enum([...FORMATS])),
  v: Type.Optional(
    Type.String({
      description:
        'The version in the image URL of GET …/playback. With the current one a public image is cacheable for an hour, else for five minutes',
    }),
  ),
});
const QueryWithToken = Type.Object({ ...Query.properties, token: Type.Optional(Type.String()) });
type Query = Static<typeof QueryWithToken>;

const SUMMARY = [
  'An image, or the poster of a video encoded by this service: upright, in sRGB and without metadata, never larger than its original;',
  'without format= in AVIF, WebP, JPEG, PNG or GIF, as Accept allows.',
  'A variant that cannot be rendered in time or stored is answered by a cheaper one, and X-Image-Substitute says why.',
  'Once an asset is made private its public URLs end at once; caches may show an image for one more hour at most',
].join(' ');
const RESPONSES = {
  200: 'The bytes',
  206: 'A part of them',
  302: 'To the next larger size, or to the path that carries the token',
  304: 'Not changed',
  400: 'A size, fit or format that is not offered: details.allowed lists what is',
  401: 'The token is wrong or has expired',
  404: 'Private and no token, deleted, unknown, nothing to show, or not ready',
  416: 'The range lies outside',
  503: 'Too many images are being rendered: retry after Retry-After',
};

export const imageRoutes = (images: ImageService): Route[] => [
  imageRoute({
    url: '/playback/:id/image',
    query: QueryWithToken,
    summary: SUMMARY,
    handle: (request, reply) => serveFixedPath(images, { request, reply }),
  }),
  imageRoute({
    url: '/playback/:id/~:token/image',
    query: Query,
    summary: `Of a private asset. ${SUMMARY}`,
    handle: (request, reply) => serveImage(images, { request, reply }),
  }),
];

const imageRoute = (route: Pick<RawRoute, 'url' | 'query' | 'summary' | 'handle'>): RawRoute => ({
  kind: 'raw',
  method: 'GET',
  body: 'none',
  answers: RESPONSES,
  ...route,
});

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

async function serveFixedPath(images: ImageService, { request, reply }: Exchange): Promise<unknown> {
  const { token, ...query } = request.query as Query;
  if (token === undefined) return serveImage(images, { request, reply });
  const { id } = request.params as { id: string };
  await images.findPlayableAsset(id, token);
  return reply
    .header('cache-control', 'no-store')
    .redirect(`/api/v1/playback/${id}/~${encodeURIComponent(token)}/image?${toSearch(query)}`, 302);
}

async function serveImage(images: ImageService, { request, reply }: Exchange): Promise<unknown> {
  const { id, token } = request.params as { id: string; token?: string };
  const { v: version, ...query } = request.query as Query;
  const asset = await images.findPlayableAsset(id, token);
  const rounded = toOfferedSize(query);
  if (rounded) {
    reply.header('cache-control', imageCaching(asset, { version, isSubstitute: false }));
    return reply.redirect(`image?${toSearch({ ...(request.query as Query), ...rounded })}`, 302);
  }
  const { key, type, name, substituteFor } = await images.findVariant(asset, {
    query,
    accept: request.headers.accept,
  });
  const known = {
    'content-type': type,
    'content-disposition': inline(name),
    'cache-control': imageCaching(asset, { version, isSubstitute: substituteFor !== undefined }),
    ...((query.format === undefined || substituteFor) && { vary: 'Accept' }),
    ...(substituteFor && { 'x-image-substitute': substituteFor }),
  };
  const etag = key.slice(key.indexOf('/') + 1);
  const { status, headers, body } = await images.objects.sendObject(
    { request, reply },
    { key, etag, headers: known, missing: playbackNotFound },
  );
  return reply.code(status).headers(headers).send(body);
}

/** The size to redirect to; undefined if the requested one is offered. Throws BAD_REQUEST if none fits. */
function toOfferedSize(query: Query): { w?: number; h?: number } | undefined {
  const size = roundSize(query);
  if ('reason' in size) {
    const { field, reason, allowed } = size;
    const value = `w=${query.w ?? ''} h=${query.h ?? ''} fit=${query.fit ?? 'inside'}`;
    throw badRequest(
      reason === 'unsupported_crop'
        ? `The crop ${value} is not offered. Use w = h, or ${CROPS[1]}, or fit=inside.`
        : `${field} ${query[field]} is not offered. Use one of ${allowed.join(', ')}.`,
      { ...size },
    );
  }
  return size.w === query.w && size.h === query.h ? undefined : size;
}

/** Known parameters in one order, so that caches keep one entry. */
const toSearch = ({ w, h, fit, format, v }: Query): string =>
  new URLSearchParams(
    Object.entries({ w, h, fit, format, v }).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  ).toString();
