// The npm package bunnycdn-stream against the simulator of cdnhost: what it expects of each response.
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { BunnyCdnStream } from 'bunnycdn-stream';

const [, , origin = '', videoLibrary = '', apiKey = ''] = process.argv;
const stream = new BunnyCdnStream({ apiKey, videoLibrary });
// The address of the product is not an option of the package.
Reflect.set(stream, 'ky', Reflect.get(stream, 'ky').extend({ prefixUrl: origin, retry: 0 }));

async function main(): Promise<void> {
  const created = await stream.createVideo({ title: 'clip' });
  deepStrictEqual([created.title, created.statusName], ['clip', 'Created']);
  const { guid } = created;
  strictEqual((await stream.uploadVideo(Buffer.from('bytes'), guid)).success, true);
  while ((await stream.getVideo(guid)).statusName !== 'Finished')
    await new Promise((resolve) => setTimeout(resolve, 50));
  const video = await stream.getVideo(guid);
  deepStrictEqual([video.resolutions.length > 0, video.encodeProgress], [true, 100]);

  const { guid: collection } = await stream.createCollection('Talks');
  deepStrictEqual(
    (await stream.listCollections()).items.map((found) => [found.guid, found.name]),
    [[collection, 'Talks']],
  );
  const captionsFile = Buffer.from('WEBVTT');
  strictEqual(
    (await stream.addCaptions(guid, { captionsFile, label: 'Deutsch', srclang: 'de' })).success,
    true,
  );
  deepStrictEqual(
    (await stream.getVideo(guid)).captions.map(({ srclang, label }) => [srclang, label]),
    [['de', 'Deutsch']],
  );
  strictEqual(await (await fetch(`${origin}/${guid}/captions/de.vtt`)).text(), 'WEBVTT');
  strictEqual((await stream.deleteCaptions(guid, 'de')).success, true);

  strictEqual((await stream.updateVideo(guid, { title: 'edited' })).success, true);
  const { items, totalItems } = await stream.listVideos({ search: 'edited', orderBy: 'date' });
  deepStrictEqual([items.map((found) => found.guid), totalItems], [[guid], 1]);
  strictEqual((await stream.getVideoPlayData(guid)).videoPlaylistUrl, `${origin}/${guid}/playlist.m3u8`);
  strictEqual((await stream.reencodeVideo(guid)).guid, guid);

  await directUpload();
  strictEqual((await stream.deleteVideo(guid)).success, true);
  await rejects(stream.getVideo(guid), { code: 404 });
  process.stdout.write('done\n');
}

/** With the headers that the package signs. */
async function directUpload(): Promise<void> {
  const { video, headers } = await stream.createDirectUpload({ title: 'direct' });
  const sent = {
    'Tus-Resumable': '1.0.0',
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  };
  const text = (value: string) => Buffer.from(value).toString('base64');
  const begun = await fetch(`${origin}/tusupload`, {
    method: 'POST',
    headers: {
      ...sent,
      'Upload-Length': '5',
      'Upload-Metadata': `filetype ${text('video/mp4')},title ${text('direct')}`,
    },
  });
  strictEqual(begun.status, 201);
  const patched = await fetch(new URL(begun.headers.get('location') ?? '', origin), {
    method: 'PATCH',
    headers: { ...sent, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' },
    body: 'bytes',
  });
  strictEqual(patched.status, 204);
  strictEqual((await stream.getVideo(video.guid)).title, 'direct');
  await stream.deleteVideo(video.guid);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
});
