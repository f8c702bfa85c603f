// What happens at a service in one step of a simulated year, always the same amount.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { readSampleVideo, type TestMediary } from '../../../packages/testing/src/start-mediary.ts';
import { eventually } from '../service.ts';
import { bombPng } from '../clips/pictures.ts';

const OWNERS = ['ann', 'ben', 'cem'] as const;
const IMAGE = { filename: 'a.png', content_type: 'image', mime_type: 'image/png' };
const VIDEO = { filename: 'a.mp4', content_type: 'video', mime_type: 'video/mp4' };
const UPLOAD_MS = 60_000;

/** Serves a picture to imports, and takes purges of a CDN. */
export async function startPeer(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const picture = bombPng(8, 8);
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'POST') response.writeHead(204).end();
    else if (request.url?.endsWith('.png'))
      response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type WorkPlace = { readonly media: TestMediary; readonly client: pg.Client; readonly peerUrl: string };

export async function doWork(place: WorkPlace, step: number): Promise<void> {
  const owner = OWNERS[step % OWNERS.length] as string;
  await Promise.all([keepVideo(place, owner), deleteVideos(place, owner), receiveWebhooks(place)]);
  await importPictures(place, owner);
  await signIn(place, owner);
  await operate(place);
  await insertMeasured(place);
}

async function uploadVideo({ media }: WorkPlace, owner: string): Promise<string> {
  const { id } = await media.client(owner).media.upload(await readSampleVideo());
  await media.waitFor('asset.ready', { assetId: id, timeoutMs: UPLOAD_MS });
  return id;
}

/** One video stays, with a webhook that is lost once. */
async function keepVideo(place: WorkPlace, owner: string): Promise<void> {
  place.media.faults.loseWebhook({ type: 'asset.updated' });
  const id = await uploadVideo(place, owner);
  await ask(place, `PATCH /media/${id}`, {
    json: { owner_user_id: owner, visibility: 'public', title: 'kept' },
  });
}

/** One goes to the trash, one for good; one upload never gets its bytes. */
async function deleteVideos(place: WorkPlace, owner: string): Promise<void> {
  const trashed = await uploadVideo(place, owner);
  await ask(place, `DELETE /media/${trashed}?trash=true&owner_user_id=${owner}`);
  const deleted = await uploadVideo(place, owner);
  await ask(place, `DELETE /media/${deleted}?owner_user_id=${owner}`);
  const key = { 'idempotency-key': `upload-${deleted}` };
  await ask(place, 'POST /media/upload-url', { json: { ...VIDEO, owner_user_id: owner }, headers: key });
}

/** Reports of videos that no asset has are parked. */
async function receiveWebhooks(place: WorkPlace): Promise<void> {
  const json = { uid: crypto.randomUUID(), status: { state: 'ready' } };
  await ask(place, 'POST /webhooks/stream/edgehost', { json });
}

/** One picture arrives and is deleted when it expires; one is missing. */
async function importPictures(place: WorkPlace, owner: string): Promise<void> {
  const expiresAt = new Date(place.media.clock.now().getTime() + 7 * 86_400_000).toISOString();
  const fields = { ...IMAGE, owner_user_id: owner };
  const { id } = await ask(place, 'POST /media/import', {
    json: { ...fields, url: `${place.peerUrl}/a.png`, expires_at: expiresAt },
  });
  await place.media.waitFor('asset.ready', { assetId: String(id), timeoutMs: UPLOAD_MS });
  await ask(place, 'POST /media/import', { json: { ...fields, url: `${place.peerUrl}/missing` } });
}

async function signIn(place: WorkPlace, owner: string): Promise<void> {
  const { token } = await ask(place, 'POST /upload-tokens', {
    json: { owner_user_id: owner, max_uploads: 1 },
  });
  const bearer = { authorization: `Bearer ${token}`, 'x-service-key': '' };
  await ask(place, 'POST /media/upload-url', { json: VIDEO, headers: bearer });
  await ask(place, 'POST /console/session', { json: { operator_key: place.media.operatorKey } });
  const collection = await ask(place, 'POST /collections', {
    json: { owner_user_id: owner, name: 'a day' },
  });
  await ask(place, `DELETE /collections/${collection['id']}?owner_user_id=${owner}`);
}

async function operate(place: WorkPlace): Promise<void> {
  const headers = { 'x-operator-key': place.media.operatorKey, 'x-service-key': '' };
  const { id } = await ask(place, 'POST /admin/checks', { json: {}, headers });
  await eventually(
    () => ask(place, `GET /admin/checks/${id}`, { headers }),
    ({ status }) => status !== 'waiting' && status !== 'running',
  );
}

/** Rows that need weeks of real time, or an encoder: of minutes, of ended processes and of encodes. */
const MEASURED = [
  `insert into samples (host, at, values)
   select 'gone:1', now() - n * interval '1 minute', '{}' from generate_series(1, 20) as n`,
  `insert into workers (id, roles, version, providers) values (gen_random_uuid(), '{worker}', '0', '{}')`,
  `insert into encode_estimates (asset_id, attempt, is_long, ready_work, latest_ready_at, delayed_after,
                                 ready_ms, ended_at)
   select gen_random_uuid(), 1, false, 1, now(), now(), 1, now() from generate_series(1, 40)`,
  `insert into pgboss.job (name, data, state, completed_on, keep_until)
   select 'process-image', '{}', 'failed', now(), now() + interval '7 days'`,
];

async function insertMeasured({ client }: WorkPlace): Promise<void> {
  for (const statement of MEASURED) await client.query(statement);
}

type AskOptions = { readonly json?: object; readonly headers?: Readonly<Record<string, string>> };

/** Calls the API as a service; an empty header is left out. */
async function ask(
  { media }: Pick<WorkPlace, 'media'>,
  methodAndPath: string,
  { json, headers: more = {} }: AskOptions = {},
): Promise<Record<string, unknown>> {
  const [method = '', path = ''] = methodAndPath.split(' ');
  const headers = {
    'x-service-key': media.serviceKey,
    'x-mediary-console': '1',
    ...(json && { 'content-type': 'application/json' }),
    ...more,
  };
  const response = await fetch(`${media.url}/api/v1${path}`, {
    method,
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== '')),
    ...(json && { body: JSON.stringify(json) }),
  });
  const answer = (await response.json()) as { data: Record<string, unknown> };
  if (!response.ok) throw new Error(`${methodAndPath}: ${JSON.stringify(answer)}`);
  return answer.data;
}
