// The header Upload-Concat: pure. Says that an upload is a part of a file, or names the parts of a file.
import { badRequest, type ErrorDetails, payloadTooLarge } from '../../platform/http/errors.ts';

/** A partial upload that a final one consists of. */
export type FinalPart = { readonly id: string; readonly sizeBytes: number };

/** The rows of uploads hold what `insertFinal` wrote. */
export const partsOf = ({ parts }: { readonly parts: unknown }): readonly FinalPart[] =>
  (parts ?? []) as readonly FinalPart[];

export const MAX_PARTIALS = 16;

const FIELD = 'Upload-Concat';

const invalid = (message: string, details: ErrorDetails = {}) =>
  badRequest(message, { field: FIELD, reason: 'invalid_value', ...details });

type TusHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The ids of the parts of a final upload, `partial`, or undefined without the header. */
export function parseUploadConcat(
  { 'upload-concat': value }: TusHeaders,
  assetId: string,
): 'partial' | readonly string[] | undefined {
  if (value === undefined || value === 'partial') return value;
  const named = /^final;(.*)$/.exec(String(value))?.[1]?.trim();
  if (named === undefined) throw invalid(`${FIELD} must be "partial", or "final;" and URLs of parts`);
  const ids = named.split(/\s+/).map((url) => parsePartUrl(url, assetId));
  if (ids.length > MAX_PARTIALS) throw tooManyPartials();
  if (new Set(ids).size < ids.length) throw invalid(`${FIELD} contains a partial upload twice`);
  return ids;
}

export const tooManyPartials = () =>
  invalid(`A file has at most ${MAX_PARTIALS} partial uploads. Delete those that are not needed any more.`, {
    reason: 'above_maximum',
    limit: MAX_PARTIALS,
  });

/** A part may be empty. Its length is known, so that no file has more bytes than it may. */
export function assertPartialLength(length: number | undefined, maxBytes: number): void {
  if (length === undefined)
    throw badRequest('A partial upload needs Upload-Length', { field: 'Upload-Length', reason: 'required' });
  if (length > maxBytes)
    throw payloadTooLarge(`A part has at most the ${maxBytes} bytes of the whole file`, {
      field: 'Upload-Length',
      limit: maxBytes,
    });
}

const PART_URL = /(?:^|\/)(?:uploads\/([^/]+)\/)?tus\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Absolute or relative, as in `Location`. The service does not know all names that its proxies have. */
function parsePartUrl(url: string, assetId: string): string {
  const [path = ''] = url.toLowerCase().split(/[?#]/);
  const [, asset = assetId, id] = PART_URL.exec(path) ?? [];
  if (id === undefined) throw invalid(`${FIELD}: "${path.slice(0, 200)}" is not the URL of an upload`);
  if (asset !== assetId.toLowerCase()) throw unknownPartial(id);
  return id;
}

/** The upload may exist: for another asset, or in an earlier attempt. */
const unknownPartial = (id: string) =>
  invalid(`${FIELD}: the asset has no partial upload ${id}. All parts must belong to this upload URL.`, {
    reason: 'unknown_partial',
  });

/** Absolute paths, which `parseUploadConcat` takes too. */
export const formatFinal = (assetId: string, parts: readonly FinalPart[]): string =>
  `final;${parts.map(({ id }) => `/api/v1/uploads/${assetId}/tus/${id}`).join(' ')}`;

type PartialRow = {
  readonly id: string;
  readonly size_bytes: number | null;
  readonly bytes_received: number;
};

/** The named parts in their order. Throws for one that is not there or not complete. */
export function toFinalParts(ids: readonly string[], rows: readonly PartialRow[]): readonly FinalPart[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = byId.get(id);
    if (!row) throw unknownPartial(id);
    if (row.size_bytes !== row.bytes_received)
      throw invalid(`${FIELD}: the partial upload ${id} is not complete. Send the rest of its bytes.`, {
        reason: 'partial_incomplete',
      });
    return { id, sizeBytes: row.bytes_received };
  });
}

export const isSameParts = (parts: readonly FinalPart[], ids: readonly string[]): boolean =>
  parts.length === ids.length && parts.every(({ id }, index) => id === ids[index]);
