// The calls of the tour with curl through the SDK of Hey API.
import { readFile } from 'node:fs/promises';
import { completeUpload, createUpload, deleteAsset, getAsset, getPlayback } from './client';
import { createClient } from './client/client';

const [, , baseUrl = '', serviceKey = '', file = ''] = process.argv;
const owner_user_id = 'ann';
const client = createClient({ baseUrl, headers: { 'X-Service-Key': serviceKey } });

async function main(): Promise<void> {
  const created = await createUpload({
    client,
    body: { filename: 'sample.mp4', content_type: 'video', mime_type: 'video/mp4', owner_user_id },
  });
  const opened = created.data?.data;
  if (!opened?.upload) throw new Error(`No upload: ${created.error?.message}`);
  const { url, headers } = opened.upload;
  const put = await fetch(url, { method: 'PUT', headers, body: await readFile(file) });
  if (!put.ok) throw new Error(`PUT: ${put.status}`);

  const path = { id: opened.asset_id };
  await completeUpload({ client, path, body: { owner_user_id } });
  let response: Awaited<ReturnType<typeof getAsset<false>>>;
  do {
    await new Promise((resolve) => setTimeout(resolve, 200));
    response = await getAsset({ client, path });
  } while (response.data?.data.stream_status === 'processing');
  if (response.data?.data.stream_status !== 'ready')
    throw new Error(`Not ready: ${JSON.stringify(response.data ?? response.error)}`);

  const playback = await getPlayback({ client, path });
  const manifest = await fetch(playback.data?.data.hls ?? '');
  if (!(await manifest.text()).startsWith('#EXTM3U')) throw new Error('The manifest is not HLS');

  const deleted = await deleteAsset({ client, path, query: { owner_user_id } });
  if (deleted.data?.data.deleted !== true) throw new Error(`Not deleted: ${deleted.error?.message}`);
  const gone = await getAsset({ client, path });
  if (gone.error?.error.error_code !== 'NOT_FOUND') throw new Error('The asset still exists');
  process.stdout.write('done\n');
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
});
