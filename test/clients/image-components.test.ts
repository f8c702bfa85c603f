// The image components of frameworks load an image of the service in each of their sizes, without a redirect.
import { transformBaseImageProps } from '@unpic/core/base';
import { getImageProps } from 'next/image.js';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { imageWidths, nextImageLoader, unpicTransformer } from '@mediary/client/images';
import { IMAGE, offer, settled } from '../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let image: string;
beforeAll(async () => {
  service = await startTestService();
  const photo = sharp({ create: { width: 4000, height: 2250, channels: 3, background: 'teal' } });
  const { id } = await offer(service, 'ann', {
    bytes: await photo.jpeg().toBuffer(),
    fields: { ...IMAGE, mime_type: 'image/jpeg' },
  });
  await settled(service, 'ann', id);
  const playback = `GET /media/${id}/playback`;
  image = (await call<{ image: string }>(service, playback, { headers: asUser('ann') })).body.data.image;
});
afterAll(() => service?.stop());

/** Width by URL, of a `srcset` with widths. */
const sourcesOf = (srcset: string): (readonly [url: string, width: number])[] =>
  srcset.split(/,\s+/).map((source) => {
    const [url = '', width = ''] = source.trim().split(' ');
    return [url, Number.parseInt(width, 10)];
  });

async function expectSources(srcset: string | undefined): Promise<void> {
  const sources = sourcesOf(srcset ?? '');
  expect(sources.length).toBeGreaterThan(3);
  for (const [url, width] of sources) {
    const answer = await fetch(url, { redirect: 'manual', headers: { accept: 'image/webp' } });
    expect([url, answer.status]).toEqual([url, 200]);
    const { width: served = 0 } = await sharp(await answer.arrayBuffer()).metadata();
    expect([url, served >= width]).toEqual([url, true]);
  }
}

test('next/image', async () => {
  const { props } = getImageProps({
    src: image,
    alt: '',
    width: 640,
    height: 360,
    sizes: '100vw',
    loader: nextImageLoader,
  });
  await expectSources(props.srcSet);
});

test('Unpic', async () => {
  const props = transformBaseImageProps({
    src: image,
    alt: '',
    width: 640,
    height: 360,
    layout: 'constrained' as const,
    transformer: unpicTransformer,
    breakpoints: [...imageWidths],
  });
  await expectSources(String(props.srcset));
});
