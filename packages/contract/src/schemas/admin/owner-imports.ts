// The report of an import of an owner.
import { type Static, Type } from 'typebox';
import { AssetId, nullable } from '../common.ts';

const Code = Type.String({
  description: 'A reason of a refused request, or a failure code of an asset.',
  examples: ['checksum_mismatch'],
});

export const OwnerImport = Type.Object(
  {
    owner_user_id: Type.String(),
    is_complete: Type.Boolean({
      description: 'True if the archive was read to its end, and its manifest lists the same files.',
    }),
    problem: nullable(
      Type.Object(
        { code: Code, message: Type.String() },
        { description: 'Why the import ended early. Null if the import read the whole archive.' },
      ),
    ),
    counts: Type.Object({
      imported_count: Type.Integer(),
      already_there_count: Type.Integer(),
      refused_count: Type.Integer(),
    }),
    items: Type.Array(
      Type.Object({
        asset_id: AssetId,
        result: Type.Enum(['imported', 'already_there', 'refused'], {
          description:
            '`imported`: the asset is stored, and its processing has started. `already_there`: the owner ' +
            'has this asset with this original; nothing changed. `refused`: nothing was stored.',
        }),
        code: nullable(Code),
        message: nullable(Type.String({ description: 'Why the asset was refused.' })),
      }),
      { description: 'One entry for each asset that the import reached, in the order of the archive.' },
    ),
  },
  { $id: 'OwnerImport' },
);
export type OwnerImport = Static<typeof OwnerImport>;

export const EXAMPLE_OWNER_IMPORT: OwnerImport = {
  owner_user_id: 'user_42',
  is_complete: true,
  problem: null,
  counts: { imported_count: 1, already_there_count: 0, refused_count: 1 },
  items: [
    {
      asset_id: '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e',
      result: 'imported',
      code: null,
      message: null,
    },
    {
      asset_id: '019aab7c-6b1e-7d02-8c4f-2a1b3c4d5e6f',
      result: 'refused',
      code: 'checksum_mismatch',
      message: 'The files of the asset do not match its SHA256SUMS.',
    },
  ],
};
