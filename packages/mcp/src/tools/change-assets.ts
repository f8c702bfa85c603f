// `set_tags`, `update_asset`, `roll_back`, `retry_asset` and `delete_asset`: offered with `--write` only.
import { z } from 'zod';
import { assetId, assetSchema, ownerUserId } from '../asset-fields.ts';
import { toCallOptions } from '../clients.ts';
import { defineTool } from '../tool.ts';

const tags = z.array(z.string().min(1).max(100)).max(50);

const version = z
  .int()
  .optional()
  .describe('version of the asset as it was read: the tool fails if the asset has changed since.');

export const setTags = defineTool({
  name: 'set_tags',
  title: 'Set tags',
  description:
    'Adds tags to assets and removes tags from them; other tags stay. Takes up to 100 assets, with a ' +
    'result for each: error is null where it succeeded.',
  input: z.strictObject({
    ids: z.array(assetId).min(1).max(100),
    add: tags.default([]),
    remove: tags.default([]),
    owner_user_id: ownerUserId,
  }),
  output: z.looseObject({
    items: z.array(z.looseObject({ id: z.string(), error: z.looseObject({}).nullable() })),
    failed_count: z.int(),
  }),
  effect: 'overwrites',
  async run(clients, { ids, add, remove, owner_user_id }, { signal }) {
    const request = { ids, action: 'update', add_tags: add, remove_tags: remove } as const;
    const { media } = clients.assets();
    return { data: await media.changeMany(request, toCallOptions(owner_user_id, signal)) };
  },
});

export const updateAsset = defineTool({
  name: 'update_asset',
  title: 'Update an asset',
  description:
    'Replaces the title, the tags or the metadata of an asset. What is left out stays; null clears title ' +
    'or metadata. The former values are lost: read them with find_asset before.',
  input: z.strictObject({
    id: assetId,
    title: z.string().max(500).nullable().optional(),
    tags: tags.optional().describe('All tags of the asset. set_tags adds and removes single ones.'),
    metadata: z.record(z.string(), z.unknown()).nullable().optional().describe('JSON, at most 16 KiB.'),
    version,
    owner_user_id: ownerUserId,
  }),
  output: z.looseObject({ asset: assetSchema }),
  effect: 'overwrites',
  async run(clients, { id, version: ifMatch, owner_user_id, ...changes }, { signal }) {
    const options = { ...toCallOptions(owner_user_id, signal), ifMatch };
    return { data: { asset: await clients.assets().media.update(id, changes, options) } };
  },
});

export const rollBack = defineTool({
  name: 'roll_back',
  title: 'Bring the previous file back',
  description:
    'Brings back the file that an asset had before the last replace_file; a second call brings the newer ' +
    'one back. Fails with no_previous_version where that file was deleted.',
  input: z.strictObject({ id: assetId, owner_user_id: ownerUserId }),
  output: z.looseObject({ asset: assetSchema }),
  effect: 'overwrites',
  async run(clients, { id, owner_user_id }, { signal }) {
    const { versions } = clients.assets();
    return { data: { asset: await versions.rollBack(id, toCallOptions(owner_user_id, signal)) } };
  },
});

export const retryAsset = defineTool({
  name: 'retry_asset',
  title: 'Retry a failed asset',
  description:
    'Starts another attempt of a failed asset. needs_upload is true where its bytes are gone or were ' +
    'refused: upload the file as a new asset then. failure.retryable of the asset tells whether a retry ' +
    'can succeed.',
  input: z.strictObject({ id: assetId, owner_user_id: ownerUserId }),
  output: z.looseObject({ asset: assetSchema, needs_upload: z.boolean() }),
  effect: 'adds',
  async run(clients, { id, owner_user_id }, { signal }) {
    const { media } = clients.assets();
    const options = toCallOptions(owner_user_id, signal);
    // The upload URL is a secret for the bytes, which this server does not pass on.
    const { upload } = await media.retry(id, options);
    return { data: { asset: await media.get(id, options), needs_upload: upload !== null } };
  },
});

export const deleteAsset = defineTool({
  name: 'delete_asset',
  title: 'Move an asset to the trash',
  description:
    'Moves an asset to the trash. It stops playing at once. For some days it can be restored, in the ' +
    'console or with "mediary restore"; then the service deletes it for good. Ask the person before.',
  input: z.strictObject({ id: assetId, version, owner_user_id: ownerUserId }),
  output: z.looseObject({ id: z.string(), in_trash: z.literal(true) }),
  effect: 'overwrites',
  async run(clients, { id, version: ifMatch, owner_user_id }, { signal }) {
    const options = { ...toCallOptions(owner_user_id, signal), ifMatch, trash: true };
    await clients.assets().media.delete(id, options);
    return { data: { id, in_trash: true } };
  },
});
