// The image components of frameworks load an image of the service in each of their sizes, without a redirect.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IMAGE, offer, settled } from '../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let sources: Readonly<Record<string, string>>;
beforeAll(async () => {
  service = await startTestService();
  const photo = sharp({ create: { width: 4000, height: 2250, channels: 3, background: 'teal' } });
  const { id } = await offer(service, 'ann', {
    bytes: await photo.jpeg().toBuffer(),
    fields: { ...IMAGE, mime_type: 'image/jpeg' },
  });
  await settled(service, 'ann', id);
  const playback = `GET /media/${id}/playback`;
  const { image } = (await call<{ image: string }>(service, playback, { headers: asUser('ann') })).body.data;
  const program = join(import.meta.dirname, 'programs/image-components.ts');
  sources = JSON.parse((await promisify(execFile)(process.execPath, [program, image])).stdout);
});
afterAll(() => service?.stop());

/** Width by URL, of a `srcset` with widths. */
const sourcesOf = (srcset: string): (readonly [url: string, width: number])[] =>
  srcset.split(/,\s+/).map((source) => {
    const [url = '', width = ''] = source.trim().split(' ');
    return [url, Number.parseInt(width, 10)];
  });

async function expectSources(srcset: string | undefined): Promise<void> {
  const asked = sourcesOf(srcset ?? '');
  expect(asked.length).toBeGreaterThan(3);
  for (const [url, width] of asked) {
    const answer = await fetch(url, { redirect: 'manual', headers: { accept: 'image/webp' } });
    expect([url, answer.status]).toEqual([url, 200]);
    const { width: served = 0 } = await sharp(await answer.arrayBuffer()).metadata();
    expect([url, served >= width]).toEqual([url, true]);
  }
}

test.each(['next/image', 'Unpic', 'Nuxt Image'])('%s', (component) => expectSources(sources[component]));
