// What ends an import, what refuses one asset of it, and how the report says so.
import type { ErrorReason } from '@mediary/contract/errors';
import { isUnavailable, ServiceError } from '../../platform/http/errors.ts';

/** `code` and `message` of the report. */
export type ImportProblem = { readonly code: string; readonly message: string };

/** Every further asset would fail in the same way. */
const ENDING: readonly (ErrorReason | undefined)[] = [
  'archive_invalid',
  'archive_truncated',
  'archive_too_large',
  'owner_is_being_erased',
];

/** Why one asset is refused. Undefined for an error that ends the import. */
export const toRefusal = (error: unknown): ImportProblem | undefined =>
  isUnavailable(error) || (error instanceof ServiceError && ENDING.includes(error.details?.reason))
    ? undefined
    : toProblem(error);

/** Undefined for a fault of the service. */
export const toProblem = (error: unknown): ImportProblem | undefined =>
  error instanceof ServiceError
    ? { code: error.details?.reason ?? error.code.toLowerCase(), message: error.message }
    : undefined;
