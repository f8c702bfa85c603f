// The calm lines at the start: where the service listens, where data lies, and a tour to copy and paste.
import { signAccessToken } from './auth/access-token.ts';
import type { Config } from './config.ts';
import type { Parts } from './parts.ts';
import type { LocalSecrets } from './platform/local-secrets.ts';

type Welcome = {
  readonly config: Config;
  readonly local: LocalSecrets | undefined;
  readonly address: string;
  readonly places: Parts['places'];
  readonly encoderMissing: string | undefined;
  /** What the sandbox of decoders lacks. */
  readonly sandboxMissing: readonly string[];
};

export function welcome({ config, local, address, places, encoderMissing, sandboxMissing }: Welcome): string {
  const url = config.publicBaseUrl ?? address;
  const lines = [
    '',
    config.role === 'worker' ? '  Mediary worker' : `  Mediary listens on ${address}`,
    `  database  ${places.database}`,
    `  objects   ${places.store}`,
    ...(local ? [`  secrets   ${local.file}`] : []),
    `  sandbox   ${sandboxMissing.length === 0 ? 'complete' : `without ${sandboxMissing.join(', ')}`}`,
    ...(encoderMissing ? ['', `  Videos cannot be encoded here: ${encoderMissing}`] : []),
    ...(config.role === 'worker' ? [] : ['', `  API       ${url}/docs`]),
    ...(local && config.role !== 'worker' ? tour(url, config) : []),
    '',
    '',
  ];
  return lines.join('\n');
}

/** With a token that works: the secrets are this machine's own. */
function tour(url: string, { tokenSecrets: [signingSecret] }: Config): string[] {
  if (!signingSecret) return [];
  const token = signAccessToken({ user_id: 'you', type: 'access' }, signingSecret);
  return [
    '',
    '  A tour, to copy and paste into another terminal (npm run sample makes sample.mp4):',
    '',
    `  TOKEN=${token}`,
    `  curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' ${url}/api/v1/media/upload-url \\`,
    '    -d \'{"filename":"sample.mp4","content_type":"video","mime_type":"video/mp4"}\' > upload.json',
    '  ID=$(node -p \'require("./upload.json").data.asset_id\'); UPLOAD=$(node -p \'require("./upload.json").data.upload_url\')',
    '  curl -s -T sample.mp4 -H \'Content-Type: video/mp4\' "$UPLOAD"',
    `  curl -s -X POST -H "Authorization: Bearer $TOKEN" ${url}/api/v1/media/$ID/complete`,
    `  curl -s -H "Authorization: Bearer $TOKEN" ${url}/api/v1/media/$ID/playback`,
  ];
}
