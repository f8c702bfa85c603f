// The webhook endpoint of a provider, and the payloads of the three built-in ones.
import { type TSchema, Type } from 'typebox';
import { bytesOperation } from '../operation.ts';
import { RENDITION_STATES } from '../enums.ts';
import { nullable } from '../schemas/common.ts';

const WebhookResult = Type.Object(
  { processed: Type.Boolean({ description: 'True when the asset is now in the reported state.' }) },
  { $id: 'WebhookResult' },
);

export const CdnhostReport = Type.Object(
  {
    VideoLibraryId: Type.Integer(),
    VideoGuid: Type.String(),
    Status: Type.Integer({ description: '3, 4: ready. 7: processing. 5, 8: failed. Others change nothing.' }),
  },
  {
    $id: 'CdnhostReport',
    examples: [{ VideoLibraryId: 133, VideoGuid: '657bb740-a71b-4529-a012-528021c31a92', Status: 3 }],
  },
);

export const EdgehostReport = Type.Object(
  {
    uid: Type.String(),
    status: Type.Object({
      state: Type.String({ description: '`ready` or `error`. Others change nothing.' }),
    }),
  },
  {
    $id: 'EdgehostReport',
    examples: [{ uid: 'dd5d531a12de0c724bd1275a3b2bc9c6', status: { state: 'ready' } }],
  },
);

const whole = (description: string) =>
  Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description })));

const ReportedRendition = Type.Object({
  height: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Pixels.' }),
  width: whole('Pixels.'),
  codec: Type.Optional(nullable(Type.String({ description: '`av1` or `hevc`; omit it for H.264.' }))),
  dynamic_range: Type.Optional(nullable(Type.String({ description: '`pq` or `hlg`; omit it for SDR.' }))),
  state: Type.Enum([...RENDITION_STATES]),
  bitrate: Type.Optional(nullable(Type.Number({ description: 'Average, in bits per second.' }))),
});

/** A malformed member is replaced by its default. */
const ReportedFailure = Type.Object({
  code: Type.Optional(
    Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$', description: 'By default `encode_failed`.' }),
  ),
  message: Type.Optional(Type.String({ description: 'Text for people.' })),
  retryable: Type.Optional(Type.Boolean({ description: 'By default true. False: `retry` cannot help.' })),
});

const playbackUrl = Type.Optional(nullable(Type.String({ description: 'Absolute http or https URL.' })));

export const OnpremReport = Type.Object(
  {
    asset_id: Type.String({ format: 'uuid' }),
    status: Type.Enum(['processing', 'ready', 'failed']),
    playback: Type.Optional(
      nullable(Type.Object({ hls: playbackUrl, dash: playbackUrl, thumbnail: playbackUrl })),
    ),
    attempt: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000,
          description:
            'Absent: the current one. A higher number opens a new attempt; lower ones change nothing.',
        }),
      ),
    ),
    progress: Type.Optional(
      nullable(Type.Number({ description: 'Percent; cut to whole numbers of 0–100.' })),
    ),
    renditions: Type.Optional(nullable(Type.Array(ReportedRendition, { maxItems: 64 }))),
    width: whole('Of the original as it is shown, in pixels.'),
    height: whole('Of the original as it is shown, in pixels.'),
    duration_ms: whole('Of the original.'),
    failure: Type.Optional(nullable(ReportedFailure)),
  },
  {
    $id: 'OnpremReport',
    examples: [
      {
        asset_id: '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e',
        status: 'ready',
        playback: { hls: 'https://cdn.example.com/v/1/hls.m3u8', dash: null, thumbnail: null },
      },
    ],
  },
);

/** The endpoint of one provider. `signature`: how it signs, in full sentences; `headers`: where it may be. */
export const webhookOperation = (
  provider: string,
  { body, signature, headers }: { body: TSchema; signature: string; headers: readonly string[] },
) =>
  bytesOperation({
    id: `receive${provider.charAt(0).toUpperCase()}${provider.slice(1)}Webhook`,
    method: 'POST',
    path: `/api/v1/webhooks/stream/${provider}`,
    tag: 'Provider callbacks',
    auth: 'webhook',
    rateClass: 'webhook',
    signatureHeaders: headers,
    summary: `Receive a report of ${provider}`,
    description:
      `${signature} The raw body is verified before it is parsed; its Content-Type is ignored. ` +
      'Reports that change nothing return 200 with `processed: false` and the reason in `message`.',
    jsonBody: body,
    message: 'Webhook processed',
    data: WebhookResult,
    example: { processed: true },
    errors: [
      { code: 'UNAUTHORIZED', reason: 'bad_signature', when: 'The signature is invalid.' },
      { code: 'UNAUTHORIZED', reason: 'not_configured', when: 'The secret of the provider is not set.' },
      { code: 'UNAUTHORIZED', reason: 'invalid_payload', when: 'The body is not JSON.' },
      { code: 'PAYLOAD_TOO_LARGE', reason: 'size_above_limit', when: 'The body is larger than 1 MiB.' },
      {
        code: 'UNAVAILABLE',
        reason: 'rate_limited',
        when: 'Too many webhooks from this address. Deliver it again.',
      },
    ],
  });
