// `list_assets`, `find_asset` and `get_playback`.
import type { Asset, AssetFilters, AssetPage, SortOrder } from '@mediary/client';
import { MediaryError } from '@mediary/client';
import { z } from 'zod';
import { assetId, assetSchema, ownerUserId, summarySchema, toSummary } from '../asset-fields.ts';
import { type ServiceClients, toCallOptions } from '../clients.ts';
import { defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';

const time = z.string().optional();

const SORT_ORDERS = [
  '-created_at',
  'created_at',
  '-updated_at',
  'updated_at',
  'title',
  '-title',
  '-size_bytes',
  'size_bytes',
  '-duration_ms',
  'duration_ms',
] as const satisfies readonly SortOrder[];

const filters = {
  kind: z.enum(['image', 'video', 'audio']).optional(),
  stream_status: z.enum(['pending_upload', 'processing', 'ready', 'failed']).optional(),
  provider: z.string().optional().describe('The provider that encodes and streams a video, such as onprem.'),
  external_id: z.string().optional().describe('The id of the asset in the application of its owner.'),
  tag: z
    .union([z.string(), z.array(z.string()).max(10)])
    .optional()
    .describe('A tag, or several: assets with each of them.'),
  tag_match: z.enum(['all', 'any']).optional().describe('any: one of the tags suffices.'),
  metadata: z
    .record(z.string(), z.string())
    .optional()
    .describe('Members of the metadata on the first level, such as {"order_id": "1042"}.'),
  q: z.string().max(200).optional().describe('Part of the title or file name, in any case.'),
  created_after: time.describe('ISO 8601, exclusive.'),
  created_before: time.describe('ISO 8601, exclusive.'),
  updated_after: time.describe('ISO 8601, exclusive.'),
  expires_before: time.describe('ISO 8601, exclusive.'),
  deleted: z.boolean().optional().describe('True: the assets of the trash.'),
  count: z.boolean().optional().describe('True: also return how many assets match.'),
};

export const listAssets = defineTool({
  name: 'list_assets',
  title: 'List assets',
  description:
    'Lists images, videos and audio files of an owner, newest first unless `sort` says otherwise, with ' +
    'the filters of the API. Each entry is short: find_asset returns all members. Pass next_cursor as ' +
    'cursor for the next page.',
  input: z.strictObject({
    ...filters,
    sort: z.enum(SORT_ORDERS).optional().describe('Default: -created_at, newest first.'),
    limit: z.int().min(1).max(200).default(50),
    cursor: z.string().optional().describe('next_cursor of the previous page, with the same filters.'),
    owner_user_id: ownerUserId,
    all_owners: z.boolean().optional().describe('True: the assets of all owners. Needs the operator key.'),
  }),
  output: z.looseObject({
    items: z.array(summarySchema),
    next_cursor: z.string().nullable(),
    total: z.int().optional(),
  }),
  effect: 'reads',
  async run(clients, { all_owners, owner_user_id, ...query }, { signal }) {
    const page = await (all_owners
      ? readAllOwners(clients, { ...query, owner_user_id }, signal)
      : clients.assets().media.list(query, toCallOptions(owner_user_id, signal)).page());
    return { data: { ...page, items: page.items.map(toSummary) } };
  },
});

function readAllOwners(
  { operator }: ServiceClients,
  query: AssetFilters & { readonly owner_user_id?: string | undefined },
  signal: AbortSignal,
): Promise<AssetPage> {
  if (operator) return operator.request({ method: 'GET', path: '/admin/media', query, options: { signal } });
  throw new ToolError('The assets of all owners need the operator key, and none is configured.', {
    errorCode: 'NOT_CONFIGURED',
    hint: 'Set MEDIARY_OPERATOR_KEY in the configuration of this server, or leave all_owners out.',
  });
}

export const findAsset = defineTool({
  name: 'find_asset',
  title: 'Find an asset',
  description:
    'Returns all members of one asset, by its id or by the external_id that the application gave it. ' +
    'Pass exactly one of them.',
  input: z.strictObject({
    id: assetId.optional(),
    external_id: z.string().min(1).max(255).optional(),
    owner_user_id: ownerUserId,
  }),
  output: z.looseObject({ asset: assetSchema }),
  effect: 'reads',
  async run(clients, input, { signal }) {
    const { id, external_id: externalId, owner_user_id: owner } = input;
    if ((id === undefined) === (externalId === undefined))
      throw new ToolError('Pass either id or external_id.', {
        errorCode: 'INVALID_ARGUMENTS',
        hint: 'list_assets finds an asset by its title, file name or tag.',
      });
    const { media } = clients.assets();
    const options = toCallOptions(owner, signal);
    if (id !== undefined) return { data: { asset: await media.get(id, options) } };
    const { items } = await media.list({ external_id: externalId, limit: 1 }, options).page();
    return { data: { asset: getFirst(items) } };
  },
});

function getFirst([asset]: readonly Asset[]): Asset {
  if (asset) return asset;
  const message = 'The owner has no asset with this external_id.';
  throw new MediaryError(message, { errorCode: 'NOT_FOUND' });
}

export const getPlayback = defineTool({
  name: 'get_playback',
  title: 'Get playback URLs',
  description:
    'Returns the URLs that play an asset: hls, dash, embed (a page with a player), thumbnail, image and ' +
    'others. A URL is null while its format does not exist. Those of private assets contain a token and ' +
    'expire.',
  input: z.strictObject({ id: assetId, owner_user_id: ownerUserId }),
  output: z.looseObject({
    kind: z.string(),
    stream_status: z.string(),
    hls: z.string().nullable(),
    image: z.string().nullable(),
    expires_at: z.string().nullable(),
  }),
  effect: 'reads',
  async run(clients, { id, owner_user_id }, { signal }) {
    return { data: await clients.assets().media.playback(id, toCallOptions(owner_user_id, signal)) };
  },
});
