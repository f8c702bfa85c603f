// Schemas of the diagnostics for operators: findings, and what arrived of a request.
import { type Static, Type } from 'typebox';
import { nullable, Timestamp } from '../common.ts';

export const DiagnosticsQuery = Type.Object({
  deep: Type.Boolean({
    default: false,
    description:
      'Also checks that take long or cost calls: the API of each hosted provider, every operation of the ' +
      'object store.',
  }),
});

const DiagnosticFinding = Type.Object(
  {
    check: Type.String({
      description: 'Stable name, with the group before the dot.',
      examples: ['public_url.body_limit'],
    }),
    status: Type.Enum(['ok', 'warning', 'problem', 'not_checked'], {
      description:
        '`problem`: something does not work. `warning`: it works, with a risk or a limit. ' +
        '`not_checked`: `message` says why.',
    }),
    message: Type.String({ description: 'What was found, for people.' }),
    fix: nullable(Type.String({ description: 'What to do; null where nothing has to be done.' })),
    details: Type.Unsafe<Record<string, unknown>>(
      Type.Object({}, { additionalProperties: true, description: 'Measured values, for programs.' }),
    ),
  },
  { $id: 'DiagnosticFinding' },
);

export const Diagnostics = Type.Object(
  {
    findings: Type.Array(DiagnosticFinding),
    checked_at: Timestamp,
    version: Type.String({ description: 'Version of the service.' }),
    deployment: Type.String({
      description:
        'Identifies the deployment: the same in every process with the same URL signing secret. ' +
        '`echoRequest` returns it too.',
    }),
  },
  { $id: 'Diagnostics' },
);
export type Diagnostics = Static<typeof Diagnostics>;

export const EchoQuery = Type.Object({
  respond: Type.Enum(['end', 'head'], {
    default: 'end',
    description:
      '`end`: responds when the whole body has arrived. `head`: responds as soon as the head has arrived, ' +
      'without reading the body, and closes the connection. So a client can announce a large ' +
      '`Content-Length` and learn whether a proxy accepts it and passes the head on at once.',
  }),
});

export const EchoReport = Type.Object(
  {
    deployment: Type.String({ description: 'As in `getDiagnostics`.' }),
    version: Type.String(),
    nonce: nullable(Type.String({ description: 'Of the token; null with an operator key.' })),
    proof: nullable(
      Type.String({ description: 'Signature of the nonce; only this deployment can compute it.' }),
    ),
    method: Type.String(),
    path: Type.String({ description: 'The path as it arrived, without the query.' }),
    protocol: Type.String({ examples: ['HTTP/1.1'] }),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        'As they arrived, names in lower case; repeated lines joined by ", ". Only `host`, `via`, ' +
        '`forwarded`, `x-forwarded-*`, `x-real-ip`, `content-type`, `content-length`, `content-encoding`, ' +
        '`transfer-encoding`, `expect` and `connection`.',
    }),
    peer_address: Type.String({ description: 'The other end of the connection: a proxy or the client.' }),
    client_address: Type.String({ description: 'Resolved with `TRUST_PROXY`; rate limits count it.' }),
    content_length: nullable(Type.Integer({ minimum: 0 })),
    transfer_encoding: nullable(Type.String()),
    body_bytes: Type.Integer({ minimum: 0, description: 'Received bytes.' }),
    is_complete: Type.Boolean({ description: 'False with `respond=head` if a body was announced.' }),
    first_chunk_after_ms: nullable(
      Type.Number({ description: 'From the head until the first chunk; null without a body.' }),
    ),
    chunk_count: Type.Integer({ minimum: 0 }),
    chunks: Type.Array(
      Type.Object({
        at_ms: Type.Number({ description: 'Relative to the first chunk.' }),
        bytes: Type.Integer(),
      }),
      { maxItems: 100, description: 'The first 100 chunks as they arrived.' },
    ),
  },
  { $id: 'EchoReport' },
);
export type EchoReport = Static<typeof EchoReport>;

/** More is 413. */
export const MAX_ECHO_BYTES = 64 * 1024 ** 2;

/** Length of the file of `type=bytes`. */
export const STREAM_FILE_BYTES = 64 * 1024;

export const StreamQuery = Type.Object({
  type: Type.Enum(['events', 'bytes'], {
    default: 'events',
    description:
      '`events`: `text/event-stream`; each event is `data: {"index":0,"sent_ms":0}`, `sent_ms` relative to ' +
      `the first. \`bytes\`: a file of ${STREAM_FILE_BYTES} bytes, sent at once, with \`ETag\`, \`Range\` ` +
      'and HEAD; byte n has the value n mod 251.',
  }),
  chunks: Type.Integer({ minimum: 1, maximum: 100, default: 5, description: 'Number of events.' }),
  interval_ms: Type.Integer({
    minimum: 0,
    maximum: 2000,
    default: 200,
    description: 'Time between two events; all events together take at most 60 s.',
  }),
});
