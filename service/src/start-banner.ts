// The start message: address, data folders, and on a terminal a tour of shell commands to copy and paste.
import { signAccessToken } from './auth/tokens/access-token.ts';
import type { Config } from './config.ts';
import type { Adapters } from './adapters.ts';
import type { Logger } from './platform/observability/logger.ts';
import type { LocalSecrets } from './platform/settings/generated-secrets.ts';

type BannerContent = {
  readonly config: Config;
  readonly local: LocalSecrets | undefined;
  /** A sign-in link, where a developer reads it on the terminal. */
  readonly consoleUrl: string | undefined;
  readonly address: string;
  readonly healthAddress: string | undefined;
  readonly locations: Adapters['locations'];
  readonly encoderMissing: string | undefined;
  readonly now: Date;
  /** Missing parts of the decoder sandbox. */
  readonly sandboxMissing: readonly string[];
};

const DAY_S = 86_400;

/** A tour for people, else a line that LOG_LEVEL does not suppress: supervisors may wait for it. */
export function announceStart(log: Logger, start: BannerContent, isForPeople: boolean): void {
  if (isForPeople) process.stdout.write(renderBanner(start));
  else log.child({}, { level: 'info' }).info(describeStart(start), 'service started');
}

export function renderBanner({
  config,
  local,
  consoleUrl,
  address,
  healthAddress,
  locations,
  encoderMissing,
  now,
  sandboxMissing,
}: BannerContent): string {
  const url = config.publicBaseUrl ?? address;
  const lines = [
    '',
    config.role === 'worker' ? '  Mediary worker' : `  Mediary listens on ${address}`,
    ...(consoleUrl === undefined
      ? []
      : ['', '  Open this link and drop a file. It works once, within 10 minutes:', `  ${consoleUrl}`, '']),
    ...(healthAddress ? [`  health    ${healthAddress}/readyz`] : []),
    `  database  ${locations.database}`,
    `  objects   ${locations.store}`,
    ...(local ? [`  secrets   ${local.file}`] : []),
    `  sandbox   ${sandboxMissing.length === 0 ? 'complete' : `without ${sandboxMissing.join(', ')}`}`,
    ...(encoderMissing ? ['', `  This process cannot encode videos: ${encoderMissing}`] : []),
    ...(config.role === 'worker'
      ? []
      : ['', `  API       ${url}${config.docs ? '/docs' : '/api/v1/openapi.json'}`]),
    ...(local && config.role !== 'worker' ? tour(url, tourToken({ config, local, now })) : []),
    '',
    '',
  ];
  return lines.join('\n');
}

/** The facts of the start message. The sign-in link is a secret, which logs do not contain. */
const describeStart = ({
  address,
  healthAddress,
  locations,
  encoderMissing,
  sandboxMissing,
}: BannerContent): object => ({
  ...(address && { address }),
  ...(healthAddress && { health_address: healthAddress }),
  database: locations.database,
  objects: locations.store,
  sandbox_missing: sandboxMissing,
  ...(encoderMissing && { encoder_missing: encoderMissing }),
});

/** Valid for a day. Only a generated secret signs it; an operator's own secret never signs a token here. */
function tourToken({ config, local, now }: Pick<BannerContent, 'config' | 'local' | 'now'>): string {
  const [signingSecret] = config.tokenSecrets;
  if (signingSecret === undefined || signingSecret.reveal() !== local?.values['ACCESS_TOKEN_SECRET'])
    return "'<an access token of your application: HS256, claims user_id and type=access>'";
  const exp = Math.floor(now.getTime() / 1000) + DAY_S;
  return signAccessToken({ user_id: 'ann', type: 'access', exp }, signingSecret);
}

function tour(url: string, token: string): string[] {
  const media = `${url}/api/v1/media`;
  const authorization = '-H "Authorization: Bearer $TOKEN"';
  return [
    '',
    '  To try it, run these commands in a second terminal in this folder. The token is valid for a day.',
    '',
    '  npm run sample',
    `  TOKEN=${token}`,
    `  curl -s ${authorization} -H 'Content-Type: application/json' ${media}/upload-url \\`,
    '    -d \'{"filename":"sample.mp4","content_type":"video","mime_type":"video/mp4"}\' > upload.json',
    '  ID=$(node -p \'require("./upload.json").data.asset_id\')',
    '  UPLOAD=$(node -p \'require("./upload.json").data.upload_url\')',
    '  curl -s -T sample.mp4 -H \'Content-Type: video/mp4\' "$UPLOAD"',
    `  curl -s -X POST ${authorization} ${media}/$ID/complete`,
    `  until curl -s ${authorization} ${media}/$ID | ` +
      `grep -qE '"stream_status":"(ready|failed)"'; do sleep 1; done`,
    `  curl -s ${authorization} ${media}/$ID/playback`,
  ];
}
