// Adopting a file that already lies in the operator's storage: request and response.
import { type Static, Type } from 'typebox';
import { Asset, EXAMPLE_NEW_ASSET } from '../assets/asset.ts';
import { nullable } from '../common.ts';
import { ImportRequest } from '../imports.ts';

const {
  url: _url,
  headers: _headers,
  owner_user_id: _owner,
  external_id,
  ...sharedFields
} = ImportRequest.properties;

export const AdoptionRequest = Type.Object(
  {
    owner_user_id: Type.String({
      minLength: 1,
      description: 'The owner of the asset, 1–255 characters.',
      examples: ['user_42'],
    }),
    source: Type.String({
      minLength: 1,
      maxLength: 8192,
      description:
        'The file, below a place of `ADOPT_SOURCES`: `s3://<bucket>/<key>`, or `file:///<path>` where the ' +
        'store is a disk. Percent-encoded.',
      examples: ['s3://films/2024/launch.mp4'],
    }),
    delete_source: Type.Optional(
      Type.Boolean({
        description:
          'True: the source is deleted once the asset has its bytes and they have passed the checks. ' +
          'Not for hosted providers. Default false.',
      }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'True: checks the request and the source, and creates nothing.' }),
    ),
    external_id: Type.Optional({
      ...external_id,
      description:
        'Your own id of the asset. A request whose id the owner has already returns that asset. Default: ' +
        '`source`, or `sha256:` and its SHA-256 where it has more than 255 characters.',
    }),
    ...sharedFields,
  },
  {
    $id: 'AdoptionRequest',
    examples: [{ owner_user_id: 'user_42', source: 's3://films/2024/launch.mp4', delete_source: true }],
  },
);
export type AdoptionRequest = Static<typeof AdoptionRequest>;

export const Adoption = Type.Object(
  {
    asset: nullable(Asset),
    is_existing: Type.Boolean({
      description: 'True if the owner had an asset with the `external_id`; nothing changed.',
    }),
  },
  { $id: 'Adoption', description: '`asset` is null after a dry run, unless the asset exists.' },
);

export const EXAMPLE_ADOPTION = {
  asset: { ...EXAMPLE_NEW_ASSET, external_id: 's3://films/2024/launch.mp4' },
  is_existing: false,
};
