// Tests edgehost as a client: one-time forms, webhooks for final states, and tokens in place of the video id.
import { expect, test } from 'vitest';
import { useSimulators, STEP } from '../simulators.fixture.ts';
import { ACCOUNT, authorized, createClient } from './edgehost-client.fixture.ts';
import { signingKeyFrom, signToken, webhookSignature } from './signatures.ts';

const context = useSimulators({ edgehost: { ...ACCOUNT, webhookSecret: 'hook' } });
const { clock } = context;
const { url, account, api } = createClient(context);

function form(bytes = 'film'): FormData {
  const data = new FormData();
  data.append('file', new File([bytes], 'clip.mp4', { type: 'video/mp4' }));
  return data;
}
async function uploaded(options: object = {}): Promise<string> {
  const { result } = await api('POST', '/direct_upload', { maxDurationSeconds: 600, ...options });
  await fetch(result.uploadURL, { method: 'POST', body: form() });
  return result.uid;
}

test('a form is accepted once; one webhook signed over time and body follows when it plays', async () => {
  const { result, ...envelope } = await api('POST', '/direct_upload', {
    maxDurationSeconds: 600,
    creator: 'ann',
  });
  expect(envelope).toEqual({ status: 200, success: true, errors: [], messages: [] });
  expect((await api('GET', `/${result.uid}`)).result).toMatchObject({
    status: { state: 'pendingupload' },
    creator: 'ann',
    duration: -1,
    readyToStream: false,
  });

  const first = await fetch(result.uploadURL, { method: 'POST', body: form() });
  expect([first.status, first.headers.get('Access-Control-Allow-Origin')]).toEqual([200, '*']);
  expect((await fetch(result.uploadURL, { method: 'POST', body: form() })).status).toBe(400);

  const states = [];
  for (let step = 0; step < 5; step += 1) {
    await clock.advance(step === 0 ? 0 : STEP);
    const { status } = (await api('GET', `/${result.uid}`)).result;
    states.push([status.state, status.pctComplete]);
  }
  expect(states).toEqual([
    ['queued', undefined],
    ['queued', '0.000000'],
    ['inprogress', '0.000000'],
    ['inprogress', '50.000000'],
    ['ready', '100.000000'],
  ]);
  const [report, ...more] = context.received;
  const [, time = '', signature] =
    /^time=(\d+),sig1=([0-9a-f]{64})$/.exec(String(report?.headers['webhook-signature'])) ?? [];
  expect(more).toEqual([]);
  expect(signature).toBe(webhookSignature('hook', Number(time), report?.body ?? ''));
  expect(JSON.parse(report?.body ?? '')).toEqual((await api('GET', `/${result.uid}`)).result);
});

test('an error is spelled one way in the webhook and another in the API', async () => {
  context.simulators.edgehost.setFault({ on: 'encoding', do: 'fail', code: 'ERR_DURATION_TOO_SHORT' });
  const uid = await uploaded();
  await clock.advance(10 * STEP);
  expect((await api('GET', `/${uid}`)).result.status).toMatchObject({
    state: 'error',
    step: 'encoding',
    errorReasonCode: 'ERR_DURATION_TOO_SHORT',
  });
  const { status, readyToStream } = JSON.parse(context.received[0]?.body ?? '');
  expect({ readyToStream, ...status }).toMatchObject({
    readyToStream: false,
    state: 'error',
    errReasonCode: 'ERR_DURATION_TOO_SHORT',
    errReasonText: expect.stringContaining('0.1'),
  });
  expect(status).not.toHaveProperty('errorReasonCode');
});

test('a video that requires signed URLs plays by a token of the account, and by nothing else', async () => {
  const uid = await uploaded();
  await clock.advance(10 * STEP);
  const { EDGEHOST_SIGNING_KEY_ID: id = '', EDGEHOST_SIGNING_KEY_PEM: pem = '' } =
    context.simulators.edgehost.environment;
  const exp = Math.floor(clock.now() / 1000) + 3600;
  const token = signToken(signingKeyFrom({ id, pem, created: '' }), { sub: uid, kid: id, exp });
  const get = async (name: string, path = '/manifest/video.m3u8') =>
    (await fetch(url(`/${name}${path}`))).status;

  expect([
    await get(uid),
    await get(token),
    await get(uid, '/manifest/video.mpd'),
    await get(uid, '/thumbnails/thumbnail.jpg'),
  ]).toEqual([200, 200, 200, 200]);
  expect((await api('POST', `/${uid}`, { requireSignedURLs: true })).result.requireSignedURLs).toBe(true);
  expect([await get(uid), await get(token), await get(`${token.slice(0, -8)}AAAAAAAA`)]).toEqual([
    401, 200, 401,
  ]);

  const made = (await api('POST', '/keys')).result;
  expect(
    await get(signToken(signingKeyFrom({ ...made, created: '' }), { sub: uid, kid: made.id, exp })),
  ).toBe(200);
  expect((await api('POST', `/${uid}/downloads`)).result.default.status).toBe('inprogress');
  await clock.advance(STEP);
  expect((await api('GET', `/${uid}/downloads`)).result.default).toMatchObject({
    status: 'ready',
    percentComplete: 100,
  });
  expect(await get(token, '/downloads/default.mp4')).toBe(401);
  expect(
    await get(
      (await api('POST', `/${uid}/token`, { downloadable: true })).result.token,
      '/downloads/default.mp4',
    ),
  ).toBe(200);
});

test('the account lists, edits and deletes; another token or account is refused', async () => {
  const before = new Date(clock.now()).toISOString();
  await clock.advance(1000);
  const [ann, bob] = [
    await uploaded({ creator: 'ann', meta: { name: 'Holiday' } }),
    await uploaded({ creator: 'bob' }),
  ];
  const listed = async (query: string) =>
    (await api('GET', query)).result.map(({ uid }: { uid: string }) => uid);
  expect(await listed('?asc=true')).toEqual([ann, bob]);
  expect([
    await listed('?creator=ann'),
    await listed('?search=holi'),
    await listed('?limit=1'),
    await listed(`?before=${before}`),
  ]).toEqual([[ann], [ann], [bob], []]);
  expect(await api('GET', '?include_counts=true&status=queued')).toMatchObject({ total: '2' });
  expect((await api('POST', `/${ann}`, { maxDurationSeconds: 0 })).errors).toEqual([
    { code: 10005, message: expect.stringContaining('maxDurationSeconds') },
  ]);
  expect(await api('DELETE', `/${ann}`)).toEqual({ status: 200 });
  expect(await api('GET', `/${ann}`)).toMatchObject({ status: 404, success: false, result: null });
  expect((await fetch(account(''))).status).toBe(403);
  expect((await fetch(url('/client/v4/accounts/other/stream'), { headers: authorized })).status).toBe(403);
});

test('another webhook address gets another secret, and reports are signed with it', async () => {
  const notificationUrl = `${context.listener.url}/elsewhere`;
  const { secret } = (await api('PUT', '/webhook', { notificationUrl })).result;
  expect(secret).not.toBe('hook');
  expect((await api('PUT', '/webhook', { notificationUrl })).result.secret).toBe(secret);
  await context.simulators.edgehost.sendWebhook('f'.repeat(32), 'ready');
  const [{ path, headers, body } = { path: '', headers: {}, body: '' }] = context.received;
  expect(path).toBe('/elsewhere');
  expect(headers['webhook-signature']).toContain(
    webhookSignature(secret, Math.floor(clock.now() / 1000), body),
  );
  await api('DELETE', '/webhook');
  expect(await api('GET', '/webhook')).toMatchObject({ status: 404 });
});

test('captions are sent as a form, listed, read and deleted', async () => {
  const path = `/${await uploaded()}/captions`;
  const form = new FormData();
  form.append('file', new Blob(['WEBVTT']), 'de.vtt');
  const put = await fetch(account(`${path}/de`), { method: 'PUT', headers: authorized, body: form });
  expect(await put.json()).toMatchObject({ result: { language: 'de', status: 'ready', generated: false } });
  expect((await api('GET', path)).result).toMatchObject([{ language: 'de', label: 'Deutsch' }]);
  const read = () => fetch(account(`${path}/de/vtt`), { headers: authorized });
  expect(await (await read()).text()).toBe('WEBVTT');
  expect(await api('DELETE', `${path}/de`)).toMatchObject({ status: 200, result: '' });
  expect((await read()).status).toBe(404);
});

test.each([
  ['POST', '/copy', '/media/import'],
  ['POST', '/clip', '/media/{id}/clip'],
  ['POST', '/{uid}/captions/en/generate', '/captions/{language}'],
  ['GET', '/{uid}/embed', 'embed page'],
])('%s %s is not simulated, and says what is there instead', async (method, path, instead) => {
  const { status, errors } = await api(method, path.replace('{uid}', await uploaded()));
  expect([status, errors[0].message]).toEqual([501, expect.stringContaining(instead)]);
});
