// Checks the settings of cdnhost with the library's API and its delivery host.
import type { Secret } from '../../auth/secret.ts';
import type { ClientLimits } from '../../platform/outbound/http-client.ts';
import { isRefused, notChecked, notCheckedWithout, ok, problem } from '../shared/finding.ts';
import { canWrite, describeFailure, readStatus, type SendHosted } from '../shared/hosted-client.ts';
import { originOf } from '../shared/hosted-settings.ts';
import type { CheckTarget, SettingFinding } from '../provider.ts';
import { type ResponseObject, parseList, parseObject } from '../shared/response-parsers.ts';
import { folderOf } from './cdnhost-report.ts';
import { signFolder } from './cdnhost-signatures.ts';

type CdnhostAccess = {
  readonly apiUrl: string;
  readonly apiKey: Secret;
  readonly webhookSecrets: readonly Secret[];
  readonly hostname: string | undefined;
  readonly tokenKey: Secret | undefined;
  readonly limits: ClientLimits | undefined;
  /** A client of the library with one of its keys. */
  readonly open: (key: Secret) => SendHosted;
};

const API_KEY = 'CDNHOST_STREAM_API_KEY';
const READ_ONLY_KEY = 'CDNHOST_STREAM_READ_ONLY_API_KEY';
const HOSTNAME = 'CDNHOST_STREAM_HOSTNAME';
const TOKEN_KEY = 'CDNHOST_TOKEN_AUTH_KEY';
const WEBHOOK_URL = 'webhook URL';

/** A video that no library has. */
const ABSENT = '00000000-0000-4000-8000-000000000000';
const TOKEN_S = 300;

export async function checkCdnhost(
  access: CdnhostAccess,
  { webhookUrl }: CheckTarget,
): Promise<SettingFinding[]> {
  const send = access.open(access.apiKey);
  let videos: readonly ResponseObject[] = [];
  const failures = await describeFailure(
    listVideos(send).then((found) => {
      videos = found;
    }),
    { url: access.apiUrl, key: API_KEY, account: 'CDNHOST_STREAM_LIBRARY_ID' },
  );
  if (failures.length > 0)
    return [
      ...failures.map((failure) => problem(API_KEY, failure)),
      ...notCheckedWithout([READ_ONLY_KEY, HOSTNAME, TOKEN_KEY, WEBHOOK_URL], API_KEY),
    ];
  return [
    await checkWriting(send),
    await checkReadOnlyKey(access),
    ...(await checkDelivery(access, videos)),
    notChecked(
      WEBHOOK_URL,
      "the library's keys cannot read it. In the library's settings it must be " +
        (webhookUrl ?? 'PUBLIC_BASE_URL (which is not set) with /api/v1/webhooks/stream/cdnhost'),
    ),
  ];
}

const listVideos = async (send: SendHosted): Promise<readonly ResponseObject[]> =>
  parseList(
    parseObject((await send({ method: 'GET', path: '?page=1&itemsPerPage=100&orderBy=date' })).body)['items'],
    'list',
  );

async function checkWriting(send: SendHosted): Promise<SettingFinding> {
  const isWriter = await canWrite(send, `/${ABSENT}`);
  if (isWriter === undefined)
    return notChecked(API_KEY, 'reads the library; the provider did not tell whether it writes');
  return isWriter
    ? ok(API_KEY, 'reads and writes the library CDNHOST_STREAM_LIBRARY_ID')
    : problem(
        API_KEY,
        'only reads the library. Set it to the API key of the library, not the read-only one.',
      );
}

async function checkReadOnlyKey({ open, webhookSecrets: [key] }: CdnhostAccess): Promise<SettingFinding> {
  if (!key) return problem(READ_ONLY_KEY, 'is not set: webhooks are rejected. Copy it from the library.');
  const send = open(key);
  const isReader = await listVideos(send).then(
    () => true,
    () => false,
  );
  if (!isReader)
    return problem(READ_ONLY_KEY, 'does not read the library, so its webhooks are rejected. Copy it again.');
  const isWriter = await canWrite(send, `/${ABSENT}`);
  if (isWriter === undefined)
    return notChecked(
      READ_ONLY_KEY,
      'reads the library; the provider did not tell whether it is the read-only key',
    );
  return isWriter
    ? problem(
        READ_ONLY_KEY,
        'writes the library. Webhooks are signed with the read-only API key: set that one.',
      )
    : ok(READ_ONLY_KEY, 'is the key that signs the webhooks of the library');
}

/** What the delivery host answers for a file; undefined: nothing. `unsigned` is without a token. */
type Delivery = {
  readonly isReady: boolean;
  readonly unsigned: number;
  readonly signed: number | undefined;
};

async function checkDelivery(
  access: CdnhostAccess,
  videos: readonly ResponseObject[],
): Promise<SettingFinding[]> {
  const { hostname, tokenKey, limits } = access;
  if (hostname === undefined)
    return [
      problem(
        HOSTNAME,
        "is not set: videos have no playback URLs. Set it to the host of the library's pull zone.",
      ),
      ...notCheckedWithout([TOKEN_KEY], HOSTNAME),
    ];
  const ready = videos.find(({ availableResolutions: found }) => typeof found === 'string' && found !== '');
  const folder = folderOf(typeof ready?.['guid'] === 'string' ? ready['guid'] : ABSENT);
  const statusOf = (path: string) => readStatus(`${originOf(hostname)}${path}playlist.m3u8`, limits);
  const unsigned = await statusOf(folder);
  if (unsigned === undefined)
    return [problem(HOSTNAME, 'cannot be reached'), ...notCheckedWithout([TOKEN_KEY], HOSTNAME)];
  const signed = tokenKey && (await statusOf(signedFolder(tokenKey, folder)));
  const delivery = { isReady: ready !== undefined, unsigned, signed };
  return [describeHost(delivery), describeToken(delivery)];
}

const signedFolder = (key: Secret, folder: string): string =>
  signFolder({ key, folder, expires: Math.floor(Date.now() / 1000) + TOKEN_S });

function describeHost({ isReady, unsigned, signed }: Delivery): SettingFinding {
  const status = signed ?? unsigned;
  if (!isReady)
    return notChecked(HOSTNAME, `answers ${status}; the library has no ready video that would show more`);
  if (status === 200) return ok(HOSTNAME, 'plays the newest ready video of the library');
  if (isRefused(status) && signed !== undefined)
    return notChecked(HOSTNAME, `answers ${status}: see ${TOKEN_KEY}`);
  return isRefused(status)
    ? problem(HOSTNAME, `answers ${status}: the pull zone asks for tokens or referrers. Set ${TOKEN_KEY}.`)
    : problem(
        HOSTNAME,
        `answers ${status} for a ready video. Set it to the host of the library's pull zone.`,
      );
}

function describeToken({ unsigned, signed }: Delivery): SettingFinding {
  if (signed === undefined)
    return notChecked(TOKEN_KEY, 'is not set: cdnhost does not protect private videos');
  if (!isRefused(unsigned))
    return problem(
      TOKEN_KEY,
      `is not needed by the pull zone (${unsigned} without a token), so everyone can play private videos. ` +
        'Switch on token authentication.',
    );
  if (isRefused(signed))
    return problem(TOKEN_KEY, `is refused (${signed}). Copy the token authentication key of the pull zone.`);
  return signed === 200 || signed === 404
    ? ok(TOKEN_KEY, `opens the pull zone (${unsigned} without a token, ${signed} with one)`)
    : notChecked(TOKEN_KEY, `the pull zone answers ${signed}`);
}
