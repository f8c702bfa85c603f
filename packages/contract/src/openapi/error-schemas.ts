// Schemas of the error envelope.
import { type TSchema, Type } from 'typebox';
import { ERROR_DETAILS } from '../error-details.ts';
import {
  ERROR_CODES,
  ERROR_REASONS,
  type ErrorCode,
  type ErrorReason,
  UNAUTHORIZED_REASONS,
} from '../errors.ts';
import { describeCodes } from '../failures.ts';

/** Other reasons may be added, so programs must accept unknown ones. */
const Reason = Type.Union([Type.Enum(Object.keys(ERROR_REASONS) as ErrorReason[]), Type.String()], {
  $id: 'ErrorReason',
});

const member = <T extends TSchema>(name: keyof typeof ERROR_DETAILS, schema: T) =>
  Type.Optional({ ...schema, description: ERROR_DETAILS[name] });

const invalid = {
  field: member('field', Type.String()),
  limit: member('limit', Type.Unknown()),
  allowed: member('allowed', Type.Array(Type.Unknown())),
};

const InvalidMember = Type.Object(
  { ...invalid, field: Type.String(), reason: Reason, message: Type.String() },
  { $id: 'InvalidMember', description: 'One invalid member, parameter or header.' },
);

const ErrorDetails = Type.Object(
  {
    reason: Type.Optional(Reason),
    ...invalid,
    errors: member('errors', Type.Array(InvalidMember)),
    version: member('version', Type.Integer()),
    used: member('used', Type.Integer()),
    expected: member('expected', Type.Unknown()),
    missing: member('missing', Type.Array(Type.Integer())),
    line: member('line', Type.Integer()),
    scope: member('scope', Type.String()),
    retryable: member('retryable', Type.Boolean()),
    stream_status: member('stream_status', Type.String()),
    policy: member('policy', Type.String()),
    window_s: member('window_s', Type.Integer()),
    min_bytes: member('min_bytes', Type.Integer()),
  },
  { $id: 'ErrorDetails', additionalProperties: true },
);

const envelopeOf = ($id: string, error: TSchema) =>
  Type.Object(
    {
      success: Type.Literal(false),
      message: Type.String({ description: 'A full sentence for people.' }),
      code: Type.Integer({ description: 'The HTTP status.' }),
      error,
      request_id: Type.String(),
      timestamp: Type.String({ format: 'date-time' }),
    },
    { $id },
  );

export const ErrorEnvelope = envelopeOf(
  'Error',
  Type.Object({
    error_code: Type.Enum(Object.keys(ERROR_CODES) as ErrorCode[]),
    details: Type.Union([ErrorDetails, Type.Null()]),
  }),
);

/** `details.reason` of a 401 is a closed list. */
export const UnauthorizedEnvelope = envelopeOf(
  'UnauthorizedError',
  Type.Object({
    error_code: Type.Literal('UNAUTHORIZED'),
    details: Type.Object(
      {
        reason: Type.Enum(Object.keys(UNAUTHORIZED_REASONS), {
          description: describeCodes(UNAUTHORIZED_REASONS),
        }),
      },
      { additionalProperties: true },
    ),
  }),
);
