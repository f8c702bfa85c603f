// Schemas of the error envelope.
import { type TSchema, Type } from 'typebox';
import {
  ERROR_CODES,
  ERROR_REASONS,
  type ErrorCode,
  type ErrorReason,
  UNAUTHORIZED_REASONS,
} from '../errors.ts';
import { describeCodes } from '../failures.ts';

/** Other reasons may be added, so programs must accept unknown ones. */
const ErrorDetails = Type.Object(
  {
    reason: Type.Optional(
      Type.Union([Type.Enum(Object.keys(ERROR_REASONS) as ErrorReason[]), Type.String()]),
    ),
    field: Type.Optional(Type.String({ description: 'The member, parameter or header that is wrong.' })),
    limit: Type.Optional(Type.Unknown({ description: 'The limit that was exceeded.' })),
    allowed: Type.Optional(Type.Array(Type.Unknown(), { description: 'The allowed values.' })),
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
