// The headers of tus 1.0.0 requests: pure. Each error names its header.
import { badRequest, conflict } from '../../platform/http/errors.ts';

export type TusHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Of requests whose body has bytes of the file. */
const BYTES_TYPE = 'application/offset+octet-stream';

const invalid = (field: string, message: string) =>
  badRequest(`${field} ${message}`, { field, reason: 'invalid_value' });

/** A number of bytes; undefined without the header. */
function parseBytes(headers: TusHeaders, field: string): number | undefined {
  const value = headers[field.toLowerCase()];
  if (value === undefined) return undefined;
  const bytes = typeof value === 'string' && /^(?:0|[1-9]\d*)$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(bytes)) return bytes;
  throw invalid(field, 'must be a number of bytes, in decimal digits');
}

/** `sizeBytes`: undefined while the length is not known. `hasBytes`: the body begins the file. */
type TusCreation = { readonly sizeBytes: number | undefined; readonly hasBytes: boolean };

export function parseCreation(headers: TusHeaders): TusCreation {
  assertMetadata(headers);
  const sizeBytes = parseBytes(headers, 'Upload-Length');
  const deferred = headers['upload-defer-length'];
  if (deferred !== undefined && deferred !== '1') throw invalid('Upload-Defer-Length', 'must be 1');
  if ((sizeBytes === undefined) === (deferred === undefined))
    throw badRequest(
      'Send Upload-Length with the length of the file in bytes, or Upload-Defer-Length: 1. Never send both.',
      { field: 'Upload-Length', reason: 'required' },
    );
  return { sizeBytes, hasBytes: headers['content-type'] === BYTES_TYPE };
}

/** `length`: of a file whose length was not known until now. */
type TusAppend = { readonly offset: number; readonly length: number | undefined };

export function parseAppend(headers: TusHeaders): TusAppend {
  const offset = parseBytes(headers, 'Upload-Offset');
  if (offset === undefined)
    throw badRequest('Upload-Offset is required: the number of bytes that the service has', {
      field: 'Upload-Offset',
      reason: 'required',
    });
  if (headers['content-type'] !== BYTES_TYPE) throw invalid('Content-Type', `must be ${BYTES_TYPE}`);
  const length = parseBytes(headers, 'Upload-Length');
  if (length !== undefined && length < offset) throw invalid('Upload-Length', 'must not be below the offset');
  return { offset, length };
}

/** The length of a file does not change once it is known. */
export const otherUploadLength = (sizeBytes: number) =>
  invalid('Upload-Length', `must be ${sizeBytes}, which was announced before`);

/** Clients ask for the offset with HEAD, and go on from there. */
export const offsetMismatch = (offset: number) =>
  conflict(`The next byte of this upload is at the offset ${offset}. Send the bytes from there.`, {
    reason: 'offset_mismatch',
    expected: offset,
  });

const KEY = /^[!-+\--~]+$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The service stores no metadata of uploads, but a client that sends bad metadata has a fault. */
function assertMetadata({ 'upload-metadata': value }: TusHeaders): void {
  if (value === undefined) return;
  const pairs = String(value)
    .split(',')
    .map((pair) => pair.split(' '));
  const isValid = pairs.every(
    ([key = '', text = '', ...rest]) => KEY.test(key) && BASE64.test(text) && rest.length === 0,
  );
  if (!isValid || new Set(pairs.map(([key]) => key)).size < pairs.length)
    throw invalid(
      'Upload-Metadata',
      'must be pairs of a unique key and a Base64 value: "key value,key value"',
    );
}
