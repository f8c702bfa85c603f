// Images are decoded once, measured after orientation, and rejected if they are broken.
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_DATA } from '../../support/clips/clips.ts';
import { type AssetJson, IMAGE, offer, readAsset, settled } from '../../support/media.ts';
import { strangeMovie } from '../../support/clips/pictures.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { eventsOf, filesNaming } from '../../support/service/traces.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const TYPES: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.gif': 'image/gif',
};
type Format = 'jpeg' | 'png' | 'webp' | 'avif' | 'gif';

const picture = () =>
  sharp({
    create: {
      width: 64,
      height: 48,
      channels: 3,
      background: '#2a6f97',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  });
const made = (format: Format): Promise<Buffer> => picture().toFormat(format).toBuffer();

/** From bytes to an end, whatever it is. */
async function endOf(bytes: Uint8Array, mime: string): Promise<AssetJson> {
  const { id } = await offer(service, 'ann', { bytes, fields: { ...IMAGE, mime_type: mime } });
  return settled(service, 'ann', id);
}

describe('a valid image', () => {
  test.each<Format>(['jpeg', 'png', 'webp', 'avif', 'gif'])(
    'becomes ready, with width and height: %s',
    async (format) => {
      const bytes = await made(format);
      const asset = await endOf(bytes, `image/${format}`);
      expect(asset).toMatchObject({
        kind: 'image',
        stream_status: 'ready',
        progress: 100,
        failure: null,
        width: 64,
        height: 48,
        duration_ms: null,
        size_bytes: bytes.length,
        provider: null,
        provider_video_id: null,
        renditions: [],
        playable_at: expect.any(String),
        ready_at: expect.any(String),
        placeholder: expect.stringMatching(/^[\w+/]{20,40}=*$/),
        playback: { hls: null, dash: null, thumbnail: `${service.url}/playback/${asset.id}/thumb.jpg` },
      });
      const { body } = await call(service, `GET /media/${asset.id}/playback`, { headers: asUser('ann') });
      const below = new RegExp(`^${service.url}/playback/${asset.id}/~[^/]+/`);
      expect(body.data).toEqual({
        kind: 'image',
        stream_status: 'ready',
        hls: null,
        dash: null,
        thumbnail: expect.stringMatching(below),
        image: expect.stringMatching(below),
        mp4: null,
        audio: null,
        storyboard: null,
        encryption: null,
        preview: null,
        chapters: null,
        captions: [],
        expires_at: expect.any(String),
      });
      const types = ['created', 'playable', 'processing', 'ready', 'uploaded'].map((name) => `asset.${name}`);
      expect((await eventsOf(service.dataDir, asset.id)).sort()).toEqual(types);
    },
  );

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'has the width and height after orientation: %d',
    async (orientation) => {
      const asset = await endOf(
        await picture().withMetadata({ orientation }).jpeg().toBuffer(),
        'image/jpeg',
      );
      expect([asset['width'], asset['height']]).toEqual(orientation > 4 ? [48, 64] : [64, 48]);
    },
  );

  test.each(['png', 'avif'] as const)(
    'that shows a still picture of its animation has a warning: %s',
    async (format) => {
      expect(await endOf(await strangeMovie(format), `image/${format}`)).toMatchObject({
        ...{ stream_status: 'ready', width: 64, height: 48 },
        warnings: [{ code: 'animation_dropped' }],
      });
    },
  );

  test('is rejected if its size differs from the announced one', async () => {
    const bytes = await made('png');
    for (const size of [bytes.length - 1, bytes.length + 1]) {
      const { id, stored, completed } = await offer(service, 'ann', {
        bytes,
        fields: { ...IMAGE, size_bytes: size },
      });
      expect([stored.status, stored.body.error.details?.['field'], completed.status]).toEqual([
        400,
        'size_bytes',
        400,
      ]);
      expect(await filesNaming(service.dataDir, id)).toEqual([]);
    }
  });
});

describe('a broken image', () => {
  test.each<Format>(['jpeg', 'png', 'webp', 'avif', 'gif'])(
    'fails with a reason if it is truncated: %s',
    async (format) => {
      const bytes = await made(format);
      const { stream_status: status, failure } = await endOf(
        bytes.subarray(0, Math.floor(bytes.length / 2)),
        `image/${format}`,
      );
      expect([status, failure]).toEqual([
        'failed',
        {
          code: expect.stringMatching(/^(?:truncated|not_media)$/),
          message: expect.any(String),
          retryable: false,
        },
      ]);
    },
  );

  test('fails if bytes in its middle are changed', async () => {
    const bytes = await made('png');
    const midst = Math.floor(bytes.length / 2);
    bytes.fill(0, midst, midst + 16);
    expect(await endOf(bytes, 'image/png')).toMatchObject({
      stream_status: 'failed',
      failure: { code: 'not_media' },
      playback: null,
    });
  });

  test('fails before memory is allocated for dimensions that it only claims', async () => {
    const { failure } = await endOf(claiming(await made('png'), 60_000, 60_000), 'image/png');
    expect(failure?.code).toBe('picture_too_large');
  });

  test('can be downloaded by its owner', async () => {
    const bytes = (await made('jpeg')).subarray(0, 400);
    const { id } = await endOf(bytes, 'image/jpeg');
    const { body } = await call<{ url: string }>(service, `GET /media/${id}/download-url`, {
      headers: asUser('ann'),
    });
    expect(Buffer.from(await (await fetch(body.data.url)).arrayBuffer()).equals(bytes)).toBe(true);
  });
});

/** The PNG with other numbers in its head, and the checksum that belongs to them. */
function claiming(png: Buffer, width: number, height: number): Buffer {
  const lying = Buffer.from(png);
  lying.writeUInt32BE(width, 16);
  lying.writeUInt32BE(height, 20);
  lying.writeUInt32BE(crc32(lying.subarray(12, 29)), 29);
  return lying;
}

test('bytes of another type are rejected and removed', async () => {
  for (const bytes of [
    await made('jpeg'),
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    Buffer.from('<html><script>1</script>'),
  ]) {
    const { id, completed } = await offer(service, 'ann', { bytes, fields: IMAGE });
    expect([completed.status, completed.body.error.error_code]).toEqual([400, 'BAD_REQUEST']);
    expect(await readAsset(service, 'ann', id)).toMatchObject({
      stream_status: 'failed',
      failure: { code: completed.body.error.details?.['reason'], retryable: true },
    });
    await eventually(
      () => filesNaming(service.dataDir, id),
      (files) => files.length === 0,
    );
  }
});

describe.runIf(TEST_DATA)('collected images', () => {
  const AT_ONCE = 4;

  async function endsOf(set: string): Promise<Map<string, AssetJson>> {
    const folder = join(TEST_DATA ?? '', set);
    const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const waiting = names.filter((name) => !/\.(?:txt|tsv|json)$/.test(name)).values();
    const ends = new Map<string, AssetJson>();
    const lane = async () => {
      for (const name of waiting)
        ends.set(name, await endOf(await readFile(name), TYPES[extname(name)] ?? 'image/png'));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    return ends;
  }

  test('in every orientation are upright', async () => {
    const ends = await endsOf('exif-orientation');
    expect(ends.size).toBe(9);
    for (const [name, { stream_status: status, width, height }] of ends)
      expect([status, width, height], name).toEqual(['ready', 1800, 1200]);
  });

  test('that are valid and of an allowed type become ready', async () => {
    const ends = await endsOf('image-valid');
    expect(ends.size).toBeGreaterThan(60);
    for (const [name, { stream_status: status, failure }] of ends)
      expect([status, failure?.code], name).toEqual(
        extname(name) in TYPES ? ['ready', undefined] : ['failed', 'type_mismatch'],
      );
  });

  test('that are broken become ready or failed, and the service keeps running', async () => {
    const ends = await endsOf('image-broken');
    expect(ends.size).toBeGreaterThan(30);
    for (const [name, { stream_status: status, failure }] of ends)
      expect([status, failure === null], name).toEqual([status, status === 'ready']);
    expect(await endOf(await made('png'), 'image/png')).toMatchObject({ stream_status: 'ready' });
  });
});
