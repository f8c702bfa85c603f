// The calls of the tour with curl through types of openapi-typescript and the client of openapi-fetch.
import { readFile } from 'node:fs/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './schema';

const [, , baseUrl = '', serviceKey = '', file = ''] = process.argv;
const owner_user_id = 'ann';
const client = createClient<paths>({ baseUrl, headers: { 'X-Service-Key': serviceKey } });

async function main(): Promise<void> {
  const created = await client.POST('/api/v1/media/upload-url', {
    body: { filename: 'sample.mp4', content_type: 'video', mime_type: 'video/mp4', owner_user_id },
  });
  const opened = created.data?.data;
  if (!opened?.upload) throw new Error(`No upload: ${created.error?.message}`);
  const { url, headers } = opened.upload;
  const put = await fetch(url, { method: 'PUT', headers, body: await readFile(file) });
  if (!put.ok) throw new Error(`PUT: ${put.status}`);

  const path = { id: opened.asset_id };
  await client.POST('/api/v1/media/{id}/complete', { params: { path }, body: { owner_user_id } });
  let asset: components['schemas']['Asset'] | undefined;
  do {
    await new Promise((resolve) => setTimeout(resolve, 200));
    asset = (await client.GET('/api/v1/media/{id}', { params: { path } })).data?.data;
  } while (asset?.stream_status === 'processing');
  if (asset?.stream_status !== 'ready') throw new Error(`Not ready: ${JSON.stringify(asset?.failure)}`);

  const playback = await client.GET('/api/v1/media/{id}/playback', { params: { path } });
  const manifest = await fetch(playback.data?.data?.hls ?? '');
  if (!(await manifest.text()).startsWith('#EXTM3U')) throw new Error('The manifest is not HLS');

  const query = { owner_user_id };
  const deleted = await client.DELETE('/api/v1/media/{id}', { params: { path, query } });
  if (deleted.data?.data?.deleted !== true) throw new Error(`Not deleted: ${deleted.error?.message}`);
  const gone = await client.GET('/api/v1/media/{id}', { params: { path } });
  if (gone.error?.error.error_code !== 'NOT_FOUND') throw new Error('The asset still exists');
  process.stdout.write('done\n');
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
});
