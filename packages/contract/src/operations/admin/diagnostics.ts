// Diagnostics for operators: findings with their fixes, and endpoints that show what proxies change.
import { bytesOperation, type ErrorCase, jsonOperation } from '../../operation.ts';
import {
  Diagnostics,
  DiagnosticsQuery,
  EchoQuery,
  EchoReport,
  MAX_ECHO_BYTES,
  StreamQuery,
} from '../../schemas/admin/diagnostics.ts';

const EXAMPLE_DEPLOYMENT = '5f0c1d9a7b3e';

export const getDiagnostics = jsonOperation({
  id: 'getDiagnostics',
  method: 'GET',
  path: '/api/v1/admin/diagnostics',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Check the deployment',
  description:
    'Checks the proxy in front of `PUBLIC_BASE_URL`, database, object store, workers, providers and ' +
    'settings, from the process that responds. A failed check is a finding, never an error. ' +
    'Takes up to 30 s; concurrent requests share one run, whose result is kept for a few seconds.',
  query: DiagnosticsQuery,
  message: 'Diagnostics',
  data: Diagnostics,
  example: {
    findings: [
      {
        check: 'public_url.body_limit',
        status: 'problem',
        message: 'The proxy refuses a body of 10737418240 bytes, which MAX_UPLOAD_BYTES allows (413).',
        fix: 'nginx: set "client_max_body_size 0;" in the location /api/v1/uploads/.',
        details: { status: 413, max_upload_bytes: 10_737_418_240 },
      },
    ],
    checked_at: '2026-11-22T10:16:12.000Z',
    version: '0.1.0',
    deployment: EXAMPLE_DEPLOYMENT,
  },
});

const TOKEN_ERRORS: readonly ErrorCase[] = [
  { code: 'UNAUTHORIZED', reason: 'missing', when: 'No operator key and no token was sent.' },
  { code: 'UNAUTHORIZED', reason: 'invalid_credential', when: 'The operator key or the token is not valid.' },
  { code: 'UNAUTHORIZED', reason: 'expired', when: 'The token has expired.' },
];
const BUSY: ErrorCase = {
  code: 'UNAVAILABLE',
  reason: 'busy',
  when: 'Too many requests of this kind are running.',
};

const echo = {
  method: 'POST',
  description:
    'Reads and discards the body, and reports what arrived: bytes, chunks with their times, headers of ' +
    'proxies and the address of the client. Send `X-Operator-Key`. ' +
    'The same operation answers at two paths, because proxies have rules for uploads: ' +
    '`/api/v1/admin/diagnostics/echo` and `/api/v1/uploads/diagnostics/echo`.',
  query: EchoQuery,
  requestExample: { headers: { 'Content-Type': 'application/octet-stream' }, file: 'probe.bin' },
  requestHeaders: ['X-Diagnostics-Token'],
  body: { mediaTypes: ['application/octet-stream'], description: 'Any bytes, with any Content-Type.' },
  message: 'Received',
  data: EchoReport,
  example: {
    deployment: EXAMPLE_DEPLOYMENT,
    version: '0.1.0',
    nonce: null,
    proof: null,
    method: 'POST',
    path: '/api/v1/uploads/diagnostics/echo',
    protocol: 'HTTP/1.1',
    headers: {
      host: 'media.example.com',
      'x-forwarded-for': '192.0.2.7',
      'x-forwarded-proto': 'https',
      'content-length': '2048',
    },
    peer_address: '10.0.0.5',
    client_address: '192.0.2.7',
    content_length: 2048,
    transfer_encoding: null,
    body_bytes: 2048,
    is_complete: true,
    first_chunk_after_ms: 0.4,
    chunk_count: 2,
    chunks: [
      { at_ms: 0, bytes: 1024 },
      { at_ms: 300.2, bytes: 1024 },
    ],
  },
  errors: [
    ...TOKEN_ERRORS,
    {
      code: 'BAD_REQUEST',
      reason: 'body_cut_short',
      when: 'The connection ended before the whole body arrived.',
    },
    {
      code: 'PAYLOAD_TOO_LARGE',
      reason: 'size_above_limit',
      when: `The body is larger than ${MAX_ECHO_BYTES} bytes.`,
    },
    BUSY,
  ],
} as const;

export const echoRequest = bytesOperation({
  ...echo,
  id: 'echoRequest',
  path: '/api/v1/admin/diagnostics/echo',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Echo a request',
  description: 'Reports what arrived of the request.',
});

export const echoUpload = bytesOperation({
  ...echo,
  id: 'echoUpload',
  path: '/api/v1/uploads/diagnostics/echo',
  tag: 'Operators',
  auth: 'ticket',
  summary: 'Echo a request to uploads',
  description: 'Reports what arrived of the request, below the path of uploads.',
});

const stream = {
  method: 'GET',
  description:
    'Events at intervals show whether a proxy buffers responses; a file shows whether ranges and HEAD ' +
    'pass. Send `X-Operator-Key`. The same operation answers at two paths, because proxies have rules for ' +
    'downloads: `/api/v1/admin/diagnostics/stream` and `/api/v1/downloads/diagnostics/stream`.',
  query: StreamQuery,
  requestHeaders: ['X-Diagnostics-Token', 'Range'],
  response: {
    mediaTypes: ['text/event-stream', 'application/octet-stream'],
    description: 'The events or the file.',
  },
  otherResponses: {
    206: 'With `type=bytes`: the range.',
    304: 'With `type=bytes`: not modified.',
    416: 'With `type=bytes`: the range is outside of the file.',
  },
  errors: [...TOKEN_ERRORS, BUSY],
} as const;

export const streamDiagnostics = bytesOperation({
  ...stream,
  id: 'streamDiagnostics',
  path: '/api/v1/admin/diagnostics/stream',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Stream events or a file',
  description: 'Sends events at intervals, or a file.',
});

export const streamDownload = bytesOperation({
  ...stream,
  id: 'streamDownload',
  path: '/api/v1/downloads/diagnostics/stream',
  tag: 'Operators',
  auth: 'ticket',
  summary: 'Stream events or a file as a download',
  description: 'Sends events at intervals, or a file, below the path of downloads.',
});
