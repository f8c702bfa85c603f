// Reading and editing one asset (contract B2).
import { Type } from 'typebox';
import { toActorData } from '../assets/actor.ts';
import type { Asset } from '../assets/asset.ts';
import type { Edit, Editing } from './asset-edits.ts';
import { AssetView, nullable, Owner, toAssetView } from '../assets/asset-view.ts';
import { assertKnownMembers } from './known-members.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';

type Edits = { edit(asset: Asset, editing: Editing): Promise<Asset> };

/** What callers write on an asset, when it is made and later. */
const Patch = Type.Object({
  owner_user_id: Owner,
  title: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 })),
  metadata: Type.Optional(
    nullable(
      Type.Object({}, { additionalProperties: true, description: "The caller's own JSON, at most 16 KiB" }),
    ),
  ),
  visibility: Type.Optional(Type.Enum(['private', 'public'])),
  poster_time_ms: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 0,
        maximum: 2 ** 31 - 1,
        description:
          'Of a video that is encoded here: the thumbnail shows the picture of this time, in milliseconds from the start. Null: chosen by the service. The thumbnail follows within moments.',
      }),
    ),
  ),
});

export const assetRoutes = (
  edits: Edits,
  { ownAsset, changingAsset }: Guards,
  publicBaseUrl: () => string,
) => [
  ownAsset({
    method: 'GET',
    url: '/media/:id',
    message: 'Asset',
    summary: 'Reads one asset',
    answer: AssetView,
    errors: [403, 404],
    etag: ({ asset }) => `"${asset.revision}"`,
    handle: async ({ asset }) => toAssetView(asset, publicBaseUrl()),
  }),
  changingAsset({
    method: 'PATCH',
    url: '/media/:id',
    message: 'Asset updated',
    summary: 'Edits an asset; omitted members keep their values, unknown members are refused',
    body: Patch,
    answer: AssetView,
    errors: [403, 404, 412],
    handle: async ({ asset, actor, body, headers }) => {
      const { owner_user_id: _, ...edit } = body;
      return toAssetView(
        await edits.edit(asset, {
          edit: onlyKnown(edit),
          ifMatch: headers['if-match'],
          note: toActorData(actor, asset),
        }),
        publicBaseUrl(),
      );
    },
  }),
];

const EDITABLE = ['title', 'tags', 'metadata', 'visibility', 'poster_time_ms'] as const;

/** A misspelt member would look like a change that was made. */
function onlyKnown(body: object): Edit {
  assertKnownMembers(body, EDITABLE);
  return body as Edit;
}
