// The client library of Cloudflare against the simulator of edgehost: what it expects of each response.
import { deepStrictEqual, match, notStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import Cloudflare from 'cloudflare';

const [, , baseURL = '', account_id = '', apiToken = ''] = process.argv;
const client = new Cloudflare({ apiToken, baseURL, maxRetries: 0 });
const { stream } = client;
const account = { account_id };

async function main(): Promise<void> {
  strictEqual((await client.user.tokens.verify()).status, 'active');
  strictEqual((await client.accounts.tokens.verify(account)).status, 'active');
  await videos();
  await resumableUpload();
  await webhook();
  await signingKeys();
  process.stdout.write('done\n');
}

async function videos(): Promise<void> {
  const { uid = '', uploadURL = '' } = await stream.directUpload.create({
    ...account,
    maxDurationSeconds: 60,
  });
  strictEqual((await stream.get(uid, account)).status?.state, 'pendingupload');
  const form = new FormData();
  form.append('file', new Blob(['bytes']), 'clip.mp4');
  strictEqual((await fetch(uploadURL, { method: 'POST', body: form })).status, 200);
  while (!(await stream.get(uid, account)).readyToStream)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const video = await stream.get(uid, account);
  strictEqual(video.status?.state, 'ready');
  match(video.playback?.hls ?? '', /\/manifest\/video\.m3u8$/);

  await captions(uid);

  const edited = await stream.edit(uid, { ...account, meta: { name: 'edited' }, requireSignedURLs: true });
  deepStrictEqual([edited.meta, edited.requireSignedURLs], [{ name: 'edited' }, true]);
  const { token } = await stream.token.create(uid, account);
  const manifest = (id: string) => fetch(video.playback?.hls?.replace(uid, id) ?? '');
  deepStrictEqual([(await manifest(uid)).status, (await manifest(token ?? '')).status], [401, 200]);

  const listed: (string | undefined)[] = [];
  for await (const found of stream.list({ ...account, status: 'ready' })) listed.push(found.uid);
  deepStrictEqual(listed, [uid]);
  await stream.delete(uid, account);
  await rejects(stream.get(uid, account), Cloudflare.NotFoundError);
}

async function captions(identifier: string): Promise<void> {
  const form = new FormData();
  form.append('file', new Blob(['WEBVTT']), 'captions.vtt');
  const url = `${baseURL}/accounts/${account_id}/stream/${identifier}/captions/de`;
  const headers = { Authorization: `Bearer ${apiToken}` };
  strictEqual((await fetch(url, { method: 'PUT', headers, body: form })).status, 200);
  const listed: (string | undefined)[] = [];
  for await (const found of stream.captions.get(identifier, account)) listed.push(found.language);
  deepStrictEqual(listed, ['de']);
  const params = { ...account, identifier };
  strictEqual(await stream.captions.language.vtt.get('de', params), 'WEBVTT');
  await stream.captions.language.delete('de', params);
  await rejects(async () => stream.captions.language.get('de', params), Cloudflare.NotFoundError);
}

async function resumableUpload(): Promise<void> {
  const created = await stream
    .create({
      ...account,
      'Tus-Resumable': '1.0.0',
      'Upload-Length': 5,
      'Upload-Metadata': `maxDurationSeconds ${Buffer.from('60').toString('base64')}`,
      direct_user: true,
    })
    .asResponse();
  strictEqual(created.status, 201);
  const { headers } = created;
  const patched = await fetch(headers.get('location') ?? '', {
    method: 'PATCH',
    headers: {
      'Tus-Resumable': '1.0.0',
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': '0',
    },
    body: 'bytes',
  });
  deepStrictEqual([patched.status, patched.headers.get('upload-offset')], [204, '5']);
  await stream.delete(headers.get('stream-media-id') ?? '', account);
}

async function webhook(): Promise<void> {
  const notificationUrl = 'https://media.example/hook';
  const { secret } = await stream.webhooks.update({ ...account, notificationUrl });
  const shown = await stream.webhooks.get(account);
  deepStrictEqual([shown.notificationUrl, shown.secret], [notificationUrl, secret]);
  await stream.webhooks.update({ ...account, notificationUrl: 'https://media.example/other' });
  notStrictEqual((await stream.webhooks.get(account)).secret, secret);
  await stream.webhooks.delete(account);
  await rejects(async () => stream.webhooks.get(account), Cloudflare.NotFoundError);
}

async function signingKeys(): Promise<void> {
  const { id = '', pem = '', jwk = '' } = await stream.keys.create(account);
  match(Buffer.from(pem, 'base64').toString(), /^-----BEGIN RSA PRIVATE KEY-----/);
  strictEqual(JSON.parse(Buffer.from(jwk, 'base64').toString()).kid, id);
  const list = async () => {
    const found: { id?: string; created?: string }[] = [];
    for await (const key of stream.keys.get(account)) found.push(key);
    return found;
  };
  const key = (await list()).find((found) => found.id === id);
  strictEqual(Number.isNaN(Date.parse(key?.created ?? '')), false);
  await stream.keys.delete(id, account);
  strictEqual(
    (await list()).some((found) => found.id === id),
    false,
  );
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
});
