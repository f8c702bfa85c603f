// Schemas that many operations share.
import { type Static, type TObjectOptions, type TSchema, Type } from 'typebox';
import { AccessRules } from './assets/access-rules.ts';
import { Chapters } from './assets/chapters.ts';

/** `schema` or null, in a form that both JSON Schema validators and client generators support. */
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-11-22T10:15:00.000Z'] });

export const AssetId = Type.String({
  format: 'uuid',
  description: 'UUIDv7, ordered by creation time.',
  examples: ['019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e'],
});

/** Not an enum: the service adds the registered providers at start. */
export const ProviderName = Type.String({
  $id: 'ProviderName',
  description: 'The provider that encodes and streams a video.',
  examples: ['onprem'],
});

/** Without a length, because the value of a user caller is ignored. */
export const OwnerUserId = Type.Optional(
  Type.String({
    description:
      'Required with `X-Service-Key`: the owner of the asset, 1–255 characters. With a bearer token the ' +
      'value is ignored, but must be a string too.',
    examples: ['user_42'],
  }),
);

/** Body of operations whose only member is the owner. */
export const OwnerOnly = Type.Object(
  { owner_user_id: OwnerUserId },
  { examples: [{ owner_user_id: 'user_42' }] },
);

export const Cursor = Type.String({ description: '`next_cursor` of the previous page.' });

export const NextCursor = nullable(
  Type.String({ description: 'Pass it as `cursor` to read the next page.', examples: ['MDE5YWFi…'] }),
);

/** A list that always fits on one page has the shape of the others. */
export const NoNextCursor = Type.Null({ description: 'Always null: the list has one page.' });

/** An object with any members; TypeBox infers `{}` without the explicit type. */
const jsonObject = (options: TObjectOptions = {}) =>
  Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, ...options }));

export const MAX_TAGS = 50;

const part = (of: string) =>
  Type.Number({ minimum: 0, maximum: 1, description: `Part of the ${of}, rounded to thousandths.` });

export const FocalPoint = Type.Object(
  { x: part('width, from the left'), y: part('height, from the top') },
  {
    $id: 'FocalPoint',
    description:
      'The part of an image that crops keep. `fit=cover` brings this point of the upright picture as ' +
      'near to the middle as the edges allow. A `gravity` of the URL or of a preset takes precedence.',
    examples: [{ x: 0.3, y: 0.6 }],
  },
);
export type FocalPoint = Static<typeof FocalPoint>;

/** Members of an asset that callers can set at creation and change later. */
export const editableFields = {
  external_id: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'Your own id of the asset. No two assets of an owner have the same one, but for deleted assets, ' +
          'also those in the trash.',
        examples: ['product-1042'],
      }),
    ),
  ),
  title: Type.Optional(nullable(Type.String({ maxLength: 500, examples: ['Launch day'] }))),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: MAX_TAGS,
      examples: [['launch', 'berlin']],
    }),
  ),
  metadata: Type.Optional(
    nullable(
      jsonObject({
        description: 'Your own JSON, at most 16 KiB and 100 levels deep.',
        examples: [{ order_id: 1042 }],
      }),
    ),
  ),
  /** Of images. */
  focal_point: Type.Optional(nullable(FocalPoint)),
  /** PATCH replaces all rules. */
  access: Type.Optional(nullable(AccessRules)),
  /** Of videos. */
  chapters: Type.Optional(nullable(Chapters)),
  expires_at: Type.Optional(
    nullable(
      Type.String({
        format: 'date-time',
        description:
          'When the asset is deleted for good, as by `DELETE` without `trash`. RFC 3339 with a zone, in ' +
          'the future, at most 100 years ahead. Playback ends at this time; a job deletes the asset ' +
          'within about a minute, also from the trash, and its bytes go after `PURGE_GRACE_DAYS`. Null: ' +
          'never.',
        examples: ['2027-01-31T00:00:00Z'],
      }),
    ),
  ),
} as const;
