// The generated types of packages/client: which schemas they show, and in which file.
import type { TObject } from 'typebox';
import {
  ASSET_KINDS,
  COLLECTION_ENDS,
  EVENT_TYPES,
  EVENT_SOURCES,
  PUBLISHED_EVENT_TYPES,
  EXTRA_CODECS,
  HDR_RANGES,
  RENDITION_STATES,
  EXISTING_ASSET_RULES,
  SORT_ORDERS,
  TAG_MATCHES,
  STREAM_STATUSES,
  VISIBILITIES,
} from '../enums.ts';
import { ERROR_CODES, ERROR_REASONS } from '../errors.ts';
import { FAILURE_CODES, WARNING_CODES } from '../failures.ts';
import { AccessRules } from '../schemas/assets/access-rules.ts';
import { AssetMedia } from '../schemas/assets/asset-media.ts';
import { BatchRequest, BatchResult } from '../schemas/batches.ts';
import { Asset, AssetPlayback } from '../schemas/assets/asset.ts';
import { Caption, CaptionList, DeletedCaptions } from '../schemas/captions.ts';
import { ClipRequest } from '../schemas/clips.ts';
import { AssetVersionPage, ReplaceFileRequest } from '../schemas/versions.ts';
import {
  AddCollectionItemsRequest,
  CollectionItemPage,
  CollectionItemsResult,
  CollectionPage,
  CreateCollectionRequest,
  DeletedCollection,
  ListCollectionItemsQuery,
  MoveCollectionItemRequest,
  Playlist,
  UpdateCollectionRequest,
} from '../schemas/collections.ts';
import { AssetEvent, EventMessage, EventTicket } from '../schemas/events.ts';
import { ImportRequest } from '../schemas/imports.ts';
import {
  AssetPage,
  DeletedAsset,
  ListAssetsQuery,
  TimelinePage,
  TimelineQuery,
  UpdateAssetRequest,
} from '../schemas/library.ts';
import { CreatedMultipart, MultipartParts, SignedPart } from '../schemas/multipart.ts';
import { DownloadUrl, Playback } from '../schemas/playback.ts';
import { UploadTarget } from '../schemas/upload-targets.ts';
import { ImageSigningKey } from '../schemas/image-signing.ts';
import { CreateUploadTokenRequest, UploadToken } from '../schemas/upload-tokens.ts';
import { CreateUploadRequest, OpenUpload } from '../schemas/uploads.ts';
import { Usage } from '../schemas/admin/usage.ts';
import {
  CreateEndpointRequest,
  DeletedEndpoint,
  EndpointDeliveryPage,
  EndpointTestResult,
  ListEndpointDeliveriesQuery,
  ListEndpointsQuery,
  ResendEventsRequest,
  ResendResult,
  UpdateEndpointRequest,
  WebhookEndpoint,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
} from '../schemas/webhook-endpoints.ts';
import { type KnownTypes, renderDeclaration, renderUnion } from './type-text.ts';

type Schema = Readonly<Record<string, unknown>>;
type TypeFile = {
  readonly about: string;
  readonly schemas?: Readonly<Record<string, Schema>>;
  readonly unions?: Readonly<Record<string, readonly [values: readonly string[], comment: string]>>;
};

/** Members of objects and alternatives that have an `$id` become types of their own. */
function collect(schema: unknown, found = new Map<string, Schema>()): Map<string, Schema> {
  if (Array.isArray(schema)) for (const item of schema) collect(item, found);
  else if (typeof schema === 'object' && schema !== null) {
    const { $id: id, type, anyOf } = schema as Schema;
    if (typeof id === 'string' && (type === 'object' || anyOf)) found.set(id, schema as Schema);
    for (const inner of Object.values(schema)) collect(inner, found);
  }
  return found;
}

const named = (...schemas: readonly object[]): Readonly<Record<string, Schema>> =>
  Object.fromEntries(schemas.flatMap((schema) => [...collect(schema)]));

/** The Query types have no `$id`. Sort orders and limits have defaults, so that callers can omit them. */
const toFilters = ({ properties, ...schema }: TObject): Schema => ({
  ...schema,
  required: [],
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, allowOne(member as Schema)]),
  ),
});

/** Callers give one value as it is, and several as an array. */
const allowOne = ({ type, items, ...schema }: Schema): Schema =>
  type === 'array' ? { ...schema, anyOf: [items, { type, items }] } : { ...schema, type, items };

const FILES: Readonly<Record<string, TypeFile>> = {
  'access-rules': { about: 'Who may play an asset.', schemas: named(AccessRules) },
  'asset-media': { about: 'What a file contains.', schemas: named(AssetMedia) },
  assets: { about: 'Assets and their lists.', schemas: named(Asset, AssetPlayback, AssetPage, DeletedAsset) },
  batches: { about: 'Changes of many assets at once.', schemas: named(BatchRequest, BatchResult) },
  enums: {
    about: 'Enumerations of the API.',
    unions: {
      AssetKind: [ASSET_KINDS, ''],
      Visibility: [VISIBILITIES, ''],
      StreamStatus: [STREAM_STATUSES, '`failed` and `ready` are final for an attempt.'],
      RenditionState: [RENDITION_STATES, ''],
      ExtraCodec: [EXTRA_CODECS, 'Codecs of renditions in addition to H.264.'],
      HdrRange: [HDR_RANGES, 'Dynamic ranges of renditions in HDR.'],
      ExistingAssetRule: [
        EXISTING_ASSET_RULES,
        '`fail` refuses the request with 409; `return` answers with the asset.',
      ],
      SortOrder: [SORT_ORDERS, '`-created_at`: newest first.'],
      CollectionEnd: [COLLECTION_ENDS, ''],
      TagMatch: [TAG_MATCHES, '`all`: each of the tags. `any`: one of them or more.'],
      PublishedEventType: [PUBLISHED_EVENT_TYPES, 'Types of the events that subscribers receive.'],
      EventOrigin: [EVENT_SOURCES, 'Who caused an event.'],
      EventType: [EVENT_TYPES, 'Types of the entries of a timeline.'],
    },
  },
  errors: {
    about: 'Codes of errors, failures and warnings; docs/errors.md explains them.',
    unions: {
      ErrorCode: [Object.keys(ERROR_CODES), '`error.error_code` of a response.'],
      ErrorReason: [Object.keys(ERROR_REASONS).sort(), '`error.details.reason` of a response.'],
      FailureCode: [Object.keys(FAILURE_CODES), '`failure.code` of an asset. An encoder may report others.'],
      WarningCode: [
        Object.keys(WARNING_CODES),
        '`warnings[].code` of an asset. An encoder may report others.',
      ],
    },
  },
  captions: { about: 'Captions of videos.', schemas: named(Caption, CaptionList, DeletedCaptions) },
  collections: {
    about: 'Collections, their assets and their playlists.',
    schemas: {
      ...named(CreateCollectionRequest, UpdateCollectionRequest, CollectionPage, DeletedCollection),
      ...named(AddCollectionItemsRequest, MoveCollectionItemRequest, CollectionItemsResult),
      ...named(CollectionItemPage, Playlist),
      ListCollectionItemsQuery: toFilters(ListCollectionItemsQuery),
    },
  },
  events: {
    about: 'Events that subscribers receive.',
    schemas: named(AssetEvent, EventMessage, EventTicket),
  },
  library: {
    about: 'Filters, edits, the timeline and usage.',
    schemas: {
      ListAssetsQuery: toFilters(ListAssetsQuery),
      TimelineQuery: toFilters(TimelineQuery),
      ...named(UpdateAssetRequest, TimelinePage, Usage),
    },
  },
  playback: { about: 'URLs for players and downloads.', schemas: named(Playback, DownloadUrl) },
  uploads: {
    about: 'Uploads, and the versions of a file.',
    schemas: named(CreateUploadRequest, UploadTarget, OpenUpload, ReplaceFileRequest, AssetVersionPage),
  },
  imports: { about: 'Imports and clips.', schemas: named(ImportRequest, ClipRequest) },
  'image-signing': {
    about: 'The key that signs URLs of images.',
    schemas: named(ImageSigningKey),
  },
  'upload-tokens': {
    about: 'Tokens that only open uploads.',
    schemas: named(CreateUploadTokenRequest, UploadToken),
  },
  multipart: {
    about: 'Uploads in parts that go straight to an S3 store.',
    schemas: named(CreatedMultipart, SignedPart, MultipartParts),
  },
  'webhook-endpoints': {
    about: 'Webhook endpoints, and the deliveries to them.',
    schemas: {
      ...named(CreateEndpointRequest, UpdateEndpointRequest, WebhookEndpointPage, WebhookEndpointWithSecret),
      ...named(DeletedEndpoint, EndpointDeliveryPage, EndpointTestResult, ResendEventsRequest, ResendResult),
      ListEndpointsQuery: toFilters(ListEndpointsQuery),
      ListEndpointDeliveriesQuery: toFilters(ListEndpointDeliveriesQuery),
    },
  },
};

type Declared = { readonly owners: ReadonlyMap<string, string>; readonly known: KnownTypes };

/** File name below `packages/client/src/api` → its text. */
export function renderClientTypes(): ReadonlyMap<string, string> {
  const declared = listTypes();
  return new Map(
    Object.entries(FILES).map(([file, content]) => [`${file}.ts`, renderFile(file, content, declared)]),
  );
}

function listTypes(): Declared {
  const owners = new Map<string, string>();
  for (const [file, { schemas = {}, unions = {} }] of Object.entries(FILES))
    for (const name of Object.keys({ ...unions, ...schemas })) if (!owners.has(name)) owners.set(name, file);
  const enums = Object.values(FILES).flatMap(({ unions = {} }) =>
    Object.entries(unions).map(([name, [values]]) => [values.join(), name] as const),
  );
  return {
    owners,
    known: {
      names: new Set(owners.keys()),
      enums: new Map(enums),
      bases: { Asset: { ...Asset }, AssetEvent: { ...AssetEvent }, WebhookEndpoint: { ...WebhookEndpoint } },
    },
  };
}

const COLUMNS = 110;

/** As the formatter breaks imports: one name per line where the line is too long. */
function renderImport(owner: string | undefined, names: readonly string[]): string {
  const line = `import type { ${names.join(', ')} } from './${owner}.ts';`;
  if (line.length <= COLUMNS) return `${line}\n`;
  return ['import type {', ...names.map((name) => `  ${name},`), `} from './${owner}.ts';`, ''].join('\n');
}

function renderFile(
  file: string,
  { about, schemas = {}, unions = {} }: TypeFile,
  { owners, known }: Declared,
) {
  const used = new Set<string>();
  const declarations = [
    ...Object.entries(unions).map(([name, [values, comment]]) => renderUnion(name, values, comment)),
    ...Object.entries(schemas)
      .filter(([name]) => owners.get(name) === file)
      .map(([name, schema]) => renderDeclaration(name, schema, { ...known, used })),
  ];
  const foreign = [...used].filter((name) => owners.get(name) !== file);
  const imports = [...Map.groupBy(foreign, (name) => owners.get(name))]
    .sort(([one = ''], [other = '']) => one.localeCompare(other))
    .map(([owner, members]) => renderImport(owner, members.sort()));
  const head = `// ${about}\n// Generated by \`npm run docs\` from packages/contract. Do not edit.\n`;
  return [head + imports.join(''), ...declarations].join('\n');
}
