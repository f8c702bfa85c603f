// Checks the settings of edgehost with the account's API and its delivery host.
import type { Secret } from '../../auth/secret.ts';
import type { ClientLimits } from '../../platform/outbound/http-client.ts';
import { isRefused, notChecked, notCheckedWithout, ok, problem } from '../shared/finding.ts';
import { canWrite, describeFailure, readStatus, type SendHosted } from '../shared/hosted-client.ts';
import { originOf } from '../shared/hosted-settings.ts';
import type { CheckTarget, SettingFinding } from '../provider.ts';
import { ProviderError } from '../provider.ts';
import {
  type ResponseObject,
  parseList,
  parseObject,
  undefinedIfMissing,
} from '../shared/response-parsers.ts';
import { toJsonObject } from '../shared/verify-webhook.ts';
import { createVideoToken, type SigningKey } from './edgehost-signatures.ts';

type EdgehostAccess = {
  readonly apiUrl: string;
  readonly webhookSecrets: readonly Secret[];
  readonly customerHost: string | undefined;
  readonly signingKey: SigningKey | undefined;
  readonly hasSigningSettings: boolean;
  readonly limits: ClientLimits | undefined;
  /** Seconds since 1970. */
  readonly now: () => number;
  readonly send: SendHosted;
  /** True when the token itself is valid. */
  readonly verifyToken: () => Promise<boolean>;
};

const TOKEN = 'EDGEHOST_STREAM_API_TOKEN';
const WEBHOOK_URL = 'webhook URL';
const WEBHOOK_SECRET = 'EDGEHOST_STREAM_WEBHOOK_SECRET';
const SUBDOMAIN = 'EDGEHOST_CUSTOMER_SUBDOMAIN';
const KEY_ID = 'EDGEHOST_SIGNING_KEY_ID';
const KEY_PEM = 'EDGEHOST_SIGNING_KEY_PEM';
const REGISTER = 'Run npm run provider -- register edgehost.';

/** A video that no account has. */
const ABSENT = '0'.repeat(32);
const TOKEN_S = 300;

export async function checkEdgehost(access: EdgehostAccess, target: CheckTarget): Promise<SettingFinding[]> {
  let videos: readonly ResponseObject[] = [];
  const failures = await describeFailure(
    access.send({ method: 'GET', path: '?limit=100&status=ready' }).then(({ body }) => {
      videos = parseList(parseObject(body)['result'], 'list');
    }),
    { url: access.apiUrl, key: TOKEN, account: 'EDGEHOST_ACCOUNT_ID' },
  );
  if (failures.length > 0)
    return [
      ...(await describeToken(access, failures)),
      ...notCheckedWithout([WEBHOOK_URL, WEBHOOK_SECRET, SUBDOMAIN, KEY_ID, KEY_PEM], TOKEN),
    ];
  return [
    await checkWriting(access),
    ...(await checkWebhook(access, target).catch((error: unknown) =>
      failed(error, [WEBHOOK_URL, WEBHOOK_SECRET]),
    )),
    ...(await checkDelivery(access, videos)),
    ...(await checkSigning(access, videos).catch((error: unknown) => failed(error, [KEY_ID, KEY_PEM]))),
  ];
}

function failed(error: unknown, settings: readonly string[]): SettingFinding[] {
  if (!(error instanceof ProviderError)) throw error;
  return settings.map((setting) => notChecked(setting, error.message));
}

/** Says whether the token or the account is wrong. */
async function describeToken(
  { verifyToken }: EdgehostAccess,
  failures: readonly string[],
): Promise<SettingFinding[]> {
  const isActive = await verifyToken().catch(() => false);
  const advice = isActive
    ? '. The token is active: check the account id, and that the token may edit Stream.'
    : '';
  return failures.map((failure) => problem(TOKEN, `${failure}${advice}`));
}

async function checkWriting({ send }: EdgehostAccess): Promise<SettingFinding> {
  const isWriter = await canWrite(send, `/${ABSENT}`);
  if (isWriter === undefined)
    return notChecked(TOKEN, 'reads the account; the provider did not tell whether it writes');
  return isWriter
    ? ok(TOKEN, 'reads and writes the videos of EDGEHOST_ACCOUNT_ID')
    : problem(TOKEN, 'only reads the account. Create a token with the permission to edit Stream.');
}

async function checkWebhook(
  { send, webhookSecrets }: EdgehostAccess,
  { webhookUrl }: CheckTarget,
): Promise<SettingFinding[]> {
  const found = await undefinedIfMissing(async () =>
    parseObject(parseObject((await send({ method: 'GET', path: '/webhook' })).body)['result'], 'webhook'),
  );
  const registered = found?.['notificationUrl'];
  if (typeof registered !== 'string' || registered === '')
    return [
      problem(WEBHOOK_URL, `no webhook URL is registered. ${REGISTER}`),
      notChecked(WEBHOOK_SECRET, 'belongs to a webhook URL, and none is registered'),
    ];
  return [describeWebhookUrl(registered, webhookUrl), describeSecret(found?.['secret'], webhookSecrets)];
}

function describeWebhookUrl(registered: string, own: string | undefined): SettingFinding {
  if (own === undefined)
    return notChecked(WEBHOOK_URL, `PUBLIC_BASE_URL is not set. Registered is ${registered}`);
  return registered === own
    ? ok(WEBHOOK_URL, `${own} is registered`)
    : problem(
        WEBHOOK_URL,
        `${registered} is registered instead of ${own}. ${REGISTER} The secret changes then.`,
      );
}

function describeSecret(registered: unknown, secrets: EdgehostAccess['webhookSecrets']): SettingFinding {
  if (secrets.length === 0)
    return problem(WEBHOOK_SECRET, `is not set: signed webhooks cannot be verified. ${REGISTER}`);
  if (typeof registered !== 'string' || registered === '')
    return notChecked(WEBHOOK_SECRET, 'the provider does not show the secret of the registered webhook');
  return secrets.some((secret) => secret.reveal() === registered)
    ? ok(WEBHOOK_SECRET, 'is the secret of the registered webhook')
    : problem(
        WEBHOOK_SECRET,
        'is not the secret of the registered webhook, so webhooks are rejected. Copy it again.',
      );
}

async function checkDelivery(
  { customerHost, limits }: EdgehostAccess,
  [video]: readonly ResponseObject[],
): Promise<SettingFinding[]> {
  if (customerHost === undefined)
    return [notChecked(SUBDOMAIN, 'is not set: playback URLs are those of the last webhook')];
  const origin = originOf(customerHost);
  const status = await readStatus(`${origin}/${ABSENT}/manifest/video.m3u8`, limits);
  if (status === undefined) return [problem(SUBDOMAIN, 'cannot be reached')];
  const hls = toJsonObject(video?.['playback'])?.['hls'];
  if (typeof hls !== 'string' || !URL.canParse(hls))
    return [notChecked(SUBDOMAIN, `answers ${status}; the account has no ready video that would show more`)];
  return [
    new URL(hls).host === new URL(origin).host
      ? ok(SUBDOMAIN, 'plays the videos of the account')
      : problem(SUBDOMAIN, `is not the host of the account's videos. Set it to ${new URL(hls).host}`),
  ];
}

async function checkSigning(
  access: EdgehostAccess,
  videos: readonly ResponseObject[],
): Promise<SettingFinding[]> {
  const { send, signingKey, hasSigningSettings } = access;
  if (!signingKey)
    return [KEY_ID, KEY_PEM].map((setting) =>
      hasSigningSettings
        ? problem(setting, `works only together with ${setting === KEY_ID ? KEY_PEM : KEY_ID}. Set both.`)
        : notChecked(setting, 'is not set: edgehost does not protect private videos'),
    );
  const keys = parseList(parseObject((await send({ method: 'GET', path: '/keys' })).body)['result'], 'keys');
  const isKnown = keys.some(({ id, key_id: keyId }) => id === signingKey.id || keyId === signingKey.id);
  if (!isKnown)
    return [
      problem(
        KEY_ID,
        'is not a signing key of the account, so private videos do not play. Create a new key.',
      ),
      ...notCheckedWithout([KEY_PEM], KEY_ID),
    ];
  return [ok(KEY_ID, 'is a signing key of the account'), await checkPrivateKey(access, videos)];
}

/** The API never shows a key again, so only a video that plays with a token proves the pair. */
async function checkPrivateKey(
  { signingKey, customerHost, now, limits }: EdgehostAccess,
  [video]: readonly ResponseObject[],
): Promise<SettingFinding> {
  const uid = video?.['uid'];
  if (!signingKey || customerHost === undefined || typeof uid !== 'string')
    return notChecked(KEY_PEM, `needs ${SUBDOMAIN} and a ready video that plays with a token`);
  const token = createVideoToken(signingKey, { videoId: uid, expires: now() + TOKEN_S, now: now() });
  const status = await readStatus(`${originOf(customerHost)}/${token}/manifest/video.m3u8`, limits);
  if (status === 200) return ok(KEY_PEM, 'signs tokens that play a video of the account');
  return status !== undefined && isRefused(status)
    ? problem(KEY_PEM, `is not the key of ${KEY_ID}: a token is refused (${status}). Set both again.`)
    : notChecked(KEY_PEM, `a video with a token answers ${status ?? 'nothing'}`);
}
