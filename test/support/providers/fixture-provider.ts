// A minimal hosted provider in one file: the example of docs/guides/add-a-provider.md.
import { Type } from 'typebox';
import { parseReportedUrl } from '../../../service/src/assets/playback-manifest.ts';
import type { StreamReport } from '../../../service/src/lifecycle/decisions/stream-report.ts';
import type { Secret } from '../../../service/src/auth/secret.ts';
import { rotatedSecret, secret } from '../../../service/src/auth/secret-settings.ts';
import { equalHex, type HeaderValues, hmacSha256 } from '../../../service/src/auth/signature.ts';
import type { ClientLimits } from '../../../service/src/platform/outbound/http-client.ts';
import type { Settings } from '../../../service/src/platform/settings/read-settings.ts';
import { parseJson } from '../../../service/src/platform/values/strict-json.ts';
import {
  parseList,
  type ResponseObject,
  parseObject,
  toPathSegment,
  parseTime,
  undefinedIfMissing,
  unreadableResponse,
  parseVideoId,
} from '../../../service/src/providers/shared/response-parsers.ts';
import { createHostedClient, describeFailure } from '../../../service/src/providers/shared/hosted-client.ts';
import { apiAddress, listMissing } from '../../../service/src/providers/shared/hosted-settings.ts';
import {
  isVideoId,
  toJsonObject,
  NOT_ACTIONABLE,
  verifyWebhook,
} from '../../../service/src/providers/shared/verify-webhook.ts';
import { defineProvider } from '../../../service/src/providers/provider-module.ts';
import type {
  HostedApi,
  Inspection,
  ListedVideo,
  ParsedWebhook,
  PreparedUpload,
  Provider,
  UploadOrder,
} from '../../../service/src/providers/provider.ts';

const NAME = 'fixture';

/* 1. Its settings. */
type FixtureSettings = {
  readonly webhookSecrets: readonly Secret[];
  readonly apiUrl: string;
  readonly apiKey: Secret | undefined;
};

const FIXTURE_SETTINGS = {
  title: 'fixture',
  settings: {
    webhookSecrets: rotatedSecret('FIXTURE_WEBHOOK_SECRET', 'Verifies webhooks.', 'not set'),
    apiUrl: apiAddress('FIXTURE_API_URL', 'https://api.fixture.example'),
    apiKey: secret('FIXTURE_API_KEY', 'Key of the API.', 'not set'),
  },
};

export const readFixtureSettings = (settings: Settings): FixtureSettings => settings.read(FIXTURE_SETTINGS);

/* 2. Its door: who may report, and what a report says. */
export function openFixture(settings: FixtureSettings, limits?: ClientLimits): Provider {
  const { webhookSecrets: secrets, apiKey } = settings;
  const api = apiKey && openFixtureApi({ ...settings, apiKey }, limits);
  return {
    name: NAME,
    kind: 'hosted',
    capabilities: {
      webhooks: secrets.length > 0,
      uploads: api !== undefined,
      inspection: api !== undefined,
      signedPlayback: false,
      dash: false,
      missingSettings: listMissing({ FIXTURE_WEBHOOK_SECRET: secrets, FIXTURE_API_KEY: apiKey }),
    },
    api,
    playback: ({ hls = null }) => ({ urls: { hls, dash: null, thumbnail: null } }),
    sign: () => undefined,
    verify: ({ headers, body }) =>
      verifyWebhook({
        secrets,
        allowUnsigned: false,
        verify: () => isSigned(headers, body, secrets),
        parse: () => parseFixture(body),
      }),
    parse: parseFixture,
    startJob: () => undefined,
  };
}

export const fixture = defineProvider<FixtureSettings>({
  name: NAME,
  kind: 'hosted',
  secrets: ['FIXTURE_WEBHOOK_SECRET', 'FIXTURE_API_KEY'],
  canAllowUnsigned: false,
  webhook: {
    body: Type.Object({ id: Type.String(), state: Type.String() }),
    headers: ['X-Fixture-Signature'],
    signature: '`X-Fixture-Signature`: HMAC-SHA256 of the body, as 64 hex digits.',
  },
  readSettings: readFixtureSettings,
  open: (settings) => openFixture(settings),
});

function isSigned(headers: HeaderValues, body: Uint8Array, secrets: readonly Secret[]): boolean {
  const [signature = '', ...more] = headers('x-fixture-signature');
  return more.length === 0 && secrets.some(({ key }) => equalHex(signature, hmacSha256(key, body)));
}

function parseFixture(body: Uint8Array): ParsedWebhook {
  const video = toJsonObject(parseJson(body));
  const id = video?.['id'];
  const report = video && isVideoId(id) ? reportOf(video, 'webhook') : undefined;
  return report && isVideoId(id) ? { report, ref: { provider: NAME, providerVideoId: id } } : NOT_ACTIONABLE;
}

/** Undefined for states that say nothing. */
function reportOf(
  { id, state, hls }: ResponseObject,
  source: 'webhook' | 'inspect',
): StreamReport | undefined {
  const base = { source, provider: NAME } as const;
  if (state === 'encoding') return { ...base, event: 'started' };
  if (state === 'broken')
    return {
      ...base,
      event: 'failed',
      failure: {
        code: 'encode_failed',
        message: 'The video provider could not encode this video.',
        retryable: true,
      },
    };
  return state === 'done'
    ? {
        ...base,
        event: 'succeeded',
        playback: { kind: 'hosted', videoId: parseVideoId(id), urls: { hls: parseReportedUrl(hls) } },
      }
    : undefined;
}

function toInspection(video: ResponseObject): Inspection {
  if (typeof video['state'] !== 'string') throw unreadableResponse('state');
  const report = reportOf(video, 'inspect');
  return report ? { state: 'known', report } : { state: 'waiting' };
}

const listedVideo = (video: ResponseObject): ListedVideo => ({
  videoId: parseVideoId(video['id']),
  assetId: typeof video['note'] === 'string' ? video['note'] : undefined,
  createdAt: parseTime(video['made']),
  inspection: () => toInspection(video),
});

/* 3. Its own interface. */
function openFixtureApi(
  { apiUrl, apiKey }: FixtureSettings & { readonly apiKey: Secret },
  limits: ClientLimits | undefined,
): HostedApi {
  const ask = createHostedClient({
    url: `${apiUrl}/videos`,
    headers: { 'x-key': apiKey.reveal() },
    parseErrorCode: () => undefined,
    limits,
  });
  const videos = async () =>
    parseList(parseObject((await ask({ method: 'GET', path: '' })).body)['videos'], 'list');
  const pathTo = (videoId: string) => `/${toPathSegment(videoId)}`;
  return {
    url: apiUrl,
    uploadRules: undefined,
    tusRelay: undefined,
    async prepareUpload(order) {
      const { body } = await ask({ method: 'POST', path: '', json: { note: order.assetId } });
      return toPreparedUpload(parseObject(body), order);
    },
    async inspect(videoId) {
      const answer = await undefinedIfMissing(() => ask({ method: 'GET', path: pathTo(videoId) }));
      if (!answer) return { state: 'missing' };
      return toInspection(parseObject(answer.body));
    },
    async remove(videoId) {
      await undefinedIfMissing(() => ask({ method: 'DELETE', path: pathTo(videoId) }));
    },
    restart: undefined,
    protect: undefined,
    registerWebhook: undefined,
    createDownloadUrl: async () => undefined,
    async *list() {
      for (const video of await videos()) yield listedVideo(video);
    },
    check: async () =>
      (
        await describeFailure(videos(), { url: apiUrl, key: 'FIXTURE_API_KEY', account: 'FIXTURE_API_URL' })
      ).map((detail) => ({ setting: 'FIXTURE_API_KEY', result: 'problem', detail })),
  };
}

function toPreparedUpload(
  { id, address: url }: ResponseObject,
  { size, maxBytes, expires }: UploadOrder,
): PreparedUpload {
  if (typeof url !== 'string') throw unreadableResponse('upload address');
  return {
    videoId: parseVideoId(id),
    target: {
      protocol: 'put',
      method: 'PUT',
      url,
      headers: {},
      expires_at: new Date(expires * 1000).toISOString(),
      max_bytes: size ?? maxBytes,
    },
  };
}
