// Changing many assets at once: the request, and what became of each asset.
import { type Static, Type } from 'typebox';
import { BATCH_ACTIONS, VISIBILITIES } from '../enums.ts';
import { ERROR_CODES, type ErrorCode } from '../errors.ts';
import { EXAMPLE_ASSET } from './assets/asset.ts';
import { editableFields, nullable, OwnerUserId } from './common.ts';

const MAX_BATCH_IDS = 100;

const tags = (description: string) => Type.Optional({ ...editableFields.tags, description });

export const BatchRequest = Type.Object(
  {
    ids: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: MAX_BATCH_IDS,
      description: 'Ids of assets. One that is named twice counts once.',
      examples: [[EXAMPLE_ASSET.id]],
    }),
    action: Type.Enum([...BATCH_ACTIONS], {
      description:
        '`update` changes tags and visibility as PATCH does; `trash` moves to the trash, and `delete` ' +
        'deletes for good; `restore` brings back from the trash.',
    }),
    add_tags: tags('`update` only: tags that the assets get in addition to theirs.'),
    remove_tags: tags('`update` only: tags that the assets lose. A tag in both lists is removed.'),
    visibility: Type.Optional(Type.Enum([...VISIBILITIES], { description: '`update` only.' })),
    owner_user_id: OwnerUserId,
  },
  {
    $id: 'BatchRequest',
    additionalProperties: false,
    examples: [{ ids: [EXAMPLE_ASSET.id], action: 'update', add_tags: ['launch'] }],
  },
);

export type BatchRequest = Static<typeof BatchRequest>;

const BatchError = Type.Object(
  {
    error_code: Type.Enum(Object.keys(ERROR_CODES) as ErrorCode[]),
    message: Type.String({ description: 'A full sentence for people.' }),
    details: nullable(
      Type.Object({}, { additionalProperties: true, description: 'As `error.details` of a response.' }),
    ),
  },
  { $id: 'BatchError', description: 'Why an asset was not changed, as the request for it alone says.' },
);

const BatchItem = Type.Object(
  { id: Type.String({ examples: [EXAMPLE_ASSET.id] }), error: nullable(BatchError) },
  { $id: 'BatchItem', description: '`error` is null where the asset is as the request wants it.' },
);

export const BatchResult = Type.Object(
  {
    items: Type.Array(BatchItem, { description: 'One for each id, in the order of the request.' }),
    failed_count: Type.Integer({ description: 'Items with an `error`.' }),
  },
  { $id: 'BatchResult' },
);

export type BatchResult = Static<typeof BatchResult>;

export const EXAMPLE_BATCH: BatchResult = {
  items: [
    { id: EXAMPLE_ASSET.id, error: null },
    {
      id: '019aab7c-0000-7000-8000-000000000000',
      error: { error_code: 'NOT_FOUND', message: 'No such asset', details: null },
    },
  ],
  failed_count: 1,
};
