// The webhook endpoint of a provider, and the payloads of the three built-in ones.
import { type TSchema, Type } from 'typebox';
import { bytesOperation } from '../operation.ts';
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

const playbackUrl = Type.Optional(nullable(Type.String({ description: 'Absolute http or https URL.' })));

export const OnpremReport = Type.Object(
  {
    asset_id: Type.String({ format: 'uuid' }),
    status: Type.String({ description: '`processing`, `ready` or `failed`.' }),
    playback: Type.Optional(
      nullable(Type.Object({ hls: playbackUrl, dash: playbackUrl, thumbnail: playbackUrl })),
    ),
    attempt: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
    progress: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 100 }))),
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

/** The endpoint of one provider. `signature`: how the provider signs, in a full sentence. */
export const webhookOperation = (
  provider: string,
  { body, signature }: { body: TSchema; signature: string },
) =>
  bytesOperation({
    id: `receive${provider.charAt(0).toUpperCase()}${provider.slice(1)}Webhook`,
    method: 'POST',
    path: `/api/v1/webhooks/stream/${provider}`,
    tag: 'Provider callbacks',
    auth: 'webhook',
    rateClass: 'webhook',
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
