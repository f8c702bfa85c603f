// Cookies for private videos; revocations end playback in every process and purge the CDN; logs show neither
// tokens nor cookies.
import { readFile } from 'node:fs/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../../service/src/platform/observability/logger.ts';
import { replacementsOf } from '../../support/assets/replacements.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { type SharedData, startSharedData } from '../../support/postgres/shared-data.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { startWebhookReceiver, status, type WebhookReceiver } from '../../support/http/webhook-receiver.ts';

type Addresses = { hls: string; dash: string; thumbnail: string; image: string; expires_at: string | null };

const CDN = 'http://cdn.example.com';
const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const SEGMENT = '1-1/r0-00001.m4s';

let data: SharedData;
let receiver: WebhookReceiver;
let service: TestService;
let other: TestService;
let hidden: AssetJson;
let shown: AssetJson;
const lines: string[] = [];

beforeAll(async () => {
  data = await startSharedData();
  receiver = await startWebhookReceiver();
  const shared = {
    ...data.environment,
    CDN_BASE_URL: CDN,
    CDN_PURGE_URL: receiver.url('/purge'),
    CDN_PURGE_SECRET: SECRET,
  };
  const write = (line: string) => {
    lines.push(line);
  };
  service = await startTestService(shared, { log: createLogger('debug', { write }) });
  other = await startTestService({ ...shared, MEDIARY_ROLE: 'api' });
  const file = await makeClip({ seconds: 1 });
  hidden = await ingest(service, 'ann', { file });
  shown = await ingest(service, 'ann', { file, fields: { visibility: 'public' } });
});
afterAll(async () => {
  for (const one of [other, service]) await one?.stop();
  await receiver?.stop();
  await data?.remove();
});

const playbackOf = async ({ id }: AssetJson, query = '') =>
  call<Addresses>(service, `GET /media/${id}/playback${query}`, { headers: asUser('ann') });
/** The path of a segment with the token of a new URL. */
async function newSegmentPath(asset: AssetJson): Promise<string> {
  const { hls } = (await playbackOf(asset)).body.data;
  return new URL(hls).pathname.replace('hls.m3u8', SEGMENT);
}
const newCookie = async (asset: AssetJson) => {
  const { headers } = await playbackOf(asset, '?access=cookie');
  return headers.get('set-cookie') ?? '';
};
const statusAt = async ({ address }: TestService, path: string, headers: Record<string, string> = {}) =>
  (await fetch(`${address}${path}`, { headers })).status;
const fixed = ({ id }: AssetJson, file: string) => `/api/v1/playback/${id}/${file}`;
const revoke = async ({ id }: AssetJson) =>
  expectSuccess(
    await call(service, `POST /media/${id}/revoke-playback`, { headers: asUser('ann') }),
  ) as AssetJson;

describe('a cookie', () => {
  test('opens the fixed paths of its asset, which caches revalidate', async () => {
    const { body, headers } = await playbackOf(hidden, '?access=cookie');
    const { hls, image, expires_at } = body.data;
    const cookie = headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      RegExp(
        `^mediary_playback=[\\w-]+; Path=/api/v1/playback/${hidden.id}/; Max-Age=\\d+; HttpOnly; SameSite`,
      ),
    );
    expect(Date.parse(expires_at ?? '')).toBeGreaterThan(Date.now());
    expect(hls).toBe(`${service.address}${fixed(hidden, 'hls.m3u8')}`);
    const [pair = ''] = cookie.split(';');
    const others = [SEGMENT, 'frame.jpg?t=1'].map((path) => `${service.address}${fixed(hidden, path)}`);
    for (const url of [hls, ...others, `${image}&w=64`]) {
      const response = await fetch(url, { headers: { cookie: pair } });
      expect([response.status, response.headers.get('cache-control')], url).toEqual([
        200,
        'private, no-cache',
      ]);
      expect((await fetch(url)).status, url).toBe(404);
      expect((await fetch(url, { headers: { cookie: `${pair}x` } })).status, url).toBe(401);
    }
  });

  test('is not set for a public asset, and not without being asked for', async () => {
    expect((await playbackOf(shown, '?access=cookie')).headers.get('set-cookie')).toBeNull();
    expect((await playbackOf(hidden)).headers.get('set-cookie')).toBeNull();
  });
});

test('a revocation ends tokens and cookies at once, and within a second in other processes', async () => {
  const path = await newSegmentPath(hidden);
  const [cookie = ''] = (await newCookie(hidden)).split(';');
  for (const one of [service, other])
    for (let n = 0; n < 4; n++) {
      expect(await statusAt(one, path)).toBe(200);
      expect(await statusAt(one, fixed(hidden, SEGMENT), { cookie })).toBe(200);
    }
  expect((await revoke(hidden))['version']).toBe(hidden['version']);
  expect(await statusAt(service, path)).toBe(401);
  expect(await statusAt(service, fixed(hidden, SEGMENT), { cookie })).toBe(401);
  await eventually(
    () => statusAt(other, path),
    (answer) => answer === 401,
    { withinMs: 1000 },
  );
  expect(await statusAt(other, await newSegmentPath(hidden))).toBe(200);
});

test('an asset that becomes private stops at its fixed path at once', async () => {
  const path = fixed(shown, SEGMENT);
  for (const one of [service, other]) for (let n = 0; n < 4; n++) expect(await statusAt(one, path)).toBe(200);
  const edit = { headers: asUser('ann'), json: { visibility: 'private' } };
  expectSuccess(await call(service, `PATCH /media/${shown.id}`, edit));
  expect(await statusAt(service, path)).toBe(404);
  await eventually(
    () => statusAt(other, path),
    (answer) => answer === 404,
    { withinMs: 1000 },
  );
});

describe('a CDN', () => {
  const purgesOf = async ({ id }: AssetJson) => {
    const { items } = (
      await call<{
        items: { asset_id: string; reason: string; attempts: number; delivered_at: string | null }[];
      }>(service, 'GET /admin/purges?delivered=true', { headers: asOperator })
    ).body.data;
    return items.filter(({ asset_id }) => asset_id === id);
  };

  test('is told by a signed request, until it confirms', async () => {
    const doomed = await ingest(service, 'ann', { file: await makeClip({ seconds: 1 }) });
    const requests = () =>
      receiver.received('/purge').filter(({ message }) => message.asset_id === doomed.id);
    receiver.respond('/purge', (response, received) =>
      status(requests().length === 1 ? 503 : 204)(response, received),
    );
    expectSuccess(await call(service, `DELETE /media/${doomed.id}`, { headers: asUser('ann') }));
    const [purge] = await eventually(
      () => purgesOf(doomed),
      ({ length }) => length > 0,
    );
    expect(purge).toMatchObject({ reason: 'deleted', attempts: 2 });
    expect(requests()).toHaveLength(2);
    for (const { body, headers } of requests()) {
      const prefix = `${CDN}${fixed(doomed, '')}`;
      expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({
        reason: 'deleted',
        tags: [doomed.id],
        prefixes: [prefix],
        urls: [`${prefix}hls.m3u8`, `${prefix}dash.mpd`, `${prefix}thumb.jpg`],
      });
    }
  });

  test('is told about revocations and private assets too', async () => {
    for (const [asset, reason] of [
      [hidden, 'revoked'],
      [shown, 'made_private'],
    ] as const)
      await eventually(
        () => purgesOf(asset),
        (purges) => purges.some((purge) => purge.reason === reason),
      );
  });

  test('is told about first access rules and replaced files', async () => {
    receiver.respond('/purge', status(204));
    const file = await makeClip({ seconds: 1 });
    const asset = await ingest(service, 'ann', { file, fields: { visibility: 'public' } });
    const confirmed = (reason: string) =>
      eventually(
        () => purgesOf(asset),
        (purges) => purges.some((purge) => purge.reason === reason),
      );
    const edit = { headers: asUser('ann'), json: { access: { networks: ['192.0.2.0/24'] } } };
    expectSuccess(await call(service, `PATCH /media/${asset.id}`, edit));
    await confirmed('access_restricted');
    const { uploadReplacement, replacedBy } = replacementsOf(() => service);
    await uploadReplacement(asset.id, await readFile(file), { filename: 'second.mp4' });
    await replacedBy(asset.id, 'second.mp4');
    await confirmed('replaced');
    const told = receiver.received('/purge').filter(({ message }) => message.asset_id === asset.id);
    expect(told.map(({ message }) => message['reason'])).toEqual(['access_restricted', 'replaced']);
  });
});

test('no log line contains a token or a cookie', async () => {
  const token = /~([^/]+)/.exec(await newSegmentPath(hidden))?.[1] as string;
  const cookie = /=([^;]+)/.exec(await newCookie(hidden))?.[1] as string;
  for (const path of [`~${token}/hls.m3u8`, `~${token}/1-1/none.m4s`, `~${token}x/hls.m3u8`, `~${token}/%zz`])
    await statusAt(service, fixed(hidden, path));
  await statusAt(service, fixed(hidden, 'hls.m3u8'), { cookie: `mediary_playback=${cookie}` });
  await statusAt(service, fixed(hidden, 'hls.m3u8'), { cookie: `mediary_playback=${cookie}x` });
  const text = lines.join('');
  expect(text).toContain('/api/v1/playback/');
  expect([text.includes(token), text.includes(cookie), text.includes('mediary_playback')]).toEqual([
    false,
    false,
    false,
  ]);
});
