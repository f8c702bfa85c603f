// Signed webhooks of the three providers over HTTP; every response is validated against the envelope.
import { toSecret } from '../../../service/src/auth/secret.ts';
import { signCdnhost } from '../../../service/src/providers/cdnhost/cdnhost-signatures.ts';
import { signEdgehost } from '../../../service/src/providers/edgehost/edgehost-signatures.ts';
import { columns, sql } from '../../../service/src/platform/postgres/sql.ts';
import { signOnprem } from '../../../service/src/providers/onprem/onprem-signature.ts';
import { eventRow } from '../../../service/src/tables.ts';
import { deliveryRow } from '../../../service/src/tables-rows.ts';
import { expectEnvelope } from '../http/envelope.ts';
import { openUpload, readAsset, type Started, VIDEO } from '../media.ts';
import { asService, call, SECRETS, type TestService } from '../service.ts';

/** The providers that the service brings. */
export const PROVIDERS = ['cdnhost', 'edgehost', 'onprem'] as const;
export type KnownProvider = (typeof PROVIDERS)[number];

const DOOR_SECRETS: Readonly<Record<KnownProvider, string>> = {
  cdnhost: SECRETS.CDNHOST_STREAM_READ_ONLY_API_KEY,
  edgehost: SECRETS.EDGEHOST_STREAM_WEBHOOK_SECRET,
  onprem: SECRETS.ONPREM_WEBHOOK_SECRET,
};
export const LIBRARY = 4242;

type Signing = { readonly secret?: string; readonly timeSeconds?: number };
type Headers = Readonly<Record<string, string>>;
/** Values other than text and bytes are sent as JSON. */
export type Body = string | Uint8Array | object | null;

const bytesOf = (body: Body): Uint8Array =>
  body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

/**
 * The headers with which a provider signs a body; the service's own settings unless another secret is given.
 */
export function signatureOf(
  provider: KnownProvider,
  body: Body,
  { secret: text = DOOR_SECRETS[provider], timeSeconds = Math.floor(Date.now() / 1000) }: Signing = {},
): Headers {
  const key = toSecret(text);
  const bytes = bytesOf(body);
  if (provider === 'cdnhost')
    return {
      'x-bunnystream-signature': signCdnhost(bytes, key),
      'x-bunnystream-signature-version': 'v1',
      'x-bunnystream-signature-algorithm': 'hmac-sha256',
    };
  if (provider === 'edgehost') return { 'webhook-signature': signEdgehost(bytes, key, timeSeconds) };
  return { 'x-onprem-signature': signOnprem(bytes, key) };
}

/** An answer in the form in which the tables of tests write it. */
export type Verdict = { readonly status: number; readonly message: string; readonly data: unknown };

export const PROCESSED: Verdict = { status: 200, message: 'Webhook processed', data: { processed: true } };
export const notProcessed = (reason: string): Verdict => ({
  status: 200,
  message: `Webhook not processed: ${reason}`,
  data: { processed: false },
});
/** The answer to a verified report for an asset that does not exist. */
export const TAKEN: Readonly<Record<KnownProvider, Verdict>> = {
  cdnhost: notProcessed('parked'),
  edgehost: notProcessed('parked'),
  onprem: notProcessed('unknown_asset'),
};
export const refusedWith = (message: string): Verdict => ({ status: 401, message, data: undefined });

/** Sends bytes as they are, with these headers and no others. */
export async function deliver(
  service: { readonly url: string },
  provider: KnownProvider,
  { body, headers }: { body: Body; headers: Headers },
): Promise<Verdict> {
  const answer = await call(service, `POST /webhooks/stream/${provider}`, { headers, body: bytesOf(body) });
  const { message, data } = expectEnvelope(answer);
  return { status: answer.status, message, data };
}

/** Sends a body with its signature. */
export const tell = (
  service: { readonly url: string },
  provider: KnownProvider,
  body: Body,
): Promise<Verdict> =>
  deliver(service, provider, {
    body,
    headers: { 'content-type': 'application/json', ...signatureOf(provider, body) },
  });

/** A `ready` in each provider's words; `id` is the provider's own, or the asset's. */
export const READY: Readonly<Record<KnownProvider, (id: string) => object>> = {
  cdnhost: (id) => ({ VideoLibraryId: LIBRARY, VideoGuid: id, Status: 3 }),
  edgehost: (id) => ({ uid: id, readyToStream: true, status: { state: 'ready', pctComplete: '100.000000' } }),
  onprem: (id) => ({ asset_id: id, status: 'ready' }),
};

type Link = {
  readonly provider: 'cdnhost' | 'edgehost';
  readonly provider_video_id: string;
  readonly [field: string]: unknown;
};

/** An asset for a video that is at a hosted provider already, made by a service caller for `ann`. */
export async function linkVideo(service: TestService, link: Link): Promise<Started> {
  const answer = await call<Started>(service, 'POST /media/upload-url?expand=asset', {
    headers: asService,
    json: { ...VIDEO, owner_user_id: 'ann', ...link },
  });
  if (answer.status !== 200) throw new Error(`upload-url: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

/** The deliveries that are kept of an asset, oldest first. */
export const deliveriesOf = ({ adapters }: TestService, assetId: string) =>
  adapters.db.all(
    sql(
      'deliveries of an asset',
      deliveryRow,
    )`select ${columns(deliveryRow)} from deliveries where asset_id = ${assetId} order by id`,
  );

/** The types of an asset's events, in their order. */
export const eventsOf = async ({ adapters }: TestService, assetId: string): Promise<string[]> =>
  (
    await adapters.db.all(
      sql(
        'events of an asset',
        eventRow,
      )`select ${columns(eventRow)} from events where asset_id = ${assetId} order by id`,
    )
  ).map(({ type }) => type);

export const PLAYBACK = { hls: 'https://v.example/1.m3u8', dash: null, thumbnail: null };

/** A public video, with the reports of an encoder elsewhere. */
export async function openReportedVideo(service: TestService) {
  const { asset_id: id } = await openUpload(service, 'ann', { visibility: 'public' });
  return {
    id,
    read: () => readAsset(service, 'ann', id),
    say: (status: string, more: object = {}) => tell(service, 'onprem', { asset_id: id, status, ...more }),
    ready: (more: object = {}) =>
      tell(service, 'onprem', { asset_id: id, status: 'ready', playback: PLAYBACK, ...more }),
    plays: async () =>
      (await fetch(`${service.url}/playback/${id}/hls.m3u8`, { redirect: 'manual' })).headers.get('location'),
  };
}
