// The calls of the tour with curl through the fetch client of Orval.
import { readFile } from 'node:fs/promises';
import { completeUpload, createUpload, deleteAsset, getAsset, getPlayback } from './client';

const [, , , serviceKey = '', file = ''] = process.argv;
const owner_user_id = 'ann';
const options = { headers: { 'X-Service-Key': serviceKey } };

async function main(): Promise<void> {
  const created = await createUpload(
    { filename: 'sample.mp4', content_type: 'video', mime_type: 'video/mp4', owner_user_id },
    {},
    options,
  );
  if (created.status !== 200) throw new Error(`Not created: ${created.status}`);
  const { asset_id: id, upload } = created.data.data;
  if (!upload) throw new Error('No upload');
  const put = await fetch(upload.url, {
    method: 'PUT',
    headers: upload.headers,
    body: await readFile(file),
  });
  if (!put.ok) throw new Error(`PUT: ${put.status}`);

  await completeUpload(id, { owner_user_id }, options);
  let response: Awaited<ReturnType<typeof getAsset>>;
  do {
    await new Promise((resolve) => setTimeout(resolve, 200));
    response = await getAsset(id, {}, options);
  } while (response.status === 200 && response.data.data.stream_status === 'processing');
  if (response.status !== 200 || response.data.data.stream_status !== 'ready')
    throw new Error(`Not ready: ${JSON.stringify(response.data)}`);

  const playback = await getPlayback(id, {}, options);
  if (playback.status !== 200) throw new Error(`No playback: ${playback.status}`);
  const manifest = await fetch(playback.data.data.hls ?? '');
  if (!(await manifest.text()).startsWith('#EXTM3U')) throw new Error('The manifest is not HLS');

  const deleted = await deleteAsset(id, { owner_user_id }, {}, options);
  if (deleted.status !== 200 || !deleted.data.data.deleted) throw new Error(`Not deleted: ${deleted.status}`);
  const gone = await getAsset(id, {}, options);
  if (gone.status !== 404 || gone.data.error.error_code !== 'NOT_FOUND')
    throw new Error('The asset still exists');
  process.stdout.write('done\n');
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
});
