// Tests that photos of 108 megapixels, which phones take, fit into the default limits of the decoders.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { openTestDecoders } from '../../../test/support/clips/decoders.ts';

const SIZE = { width: 12_000, height: 9000 };

test('a photo of 108 megapixels is examined and rendered', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-photo-'));
  const { imageProcessor, close } = openTestDecoders();
  try {
    const photo = join(folder, 'photo.jpg');
    await sharp({ create: { ...SIZE, channels: 3, background: 'red' } })
      .jpeg()
      .toFile(photo);
    expect(await imageProcessor.examine(photo)).toMatchObject({ facts: SIZE });
    const variant = { width: 640, height: 480, fit: 'inside', format: 'webp', animated: false } as const;
    expect(await imageProcessor.render(photo, variant, { id: 'asset', owner_user_id: 'ann' })).toMatchObject({
      bytes: expect.any(Uint8Array),
    });
  } finally {
    await close();
    await rm(folder, { recursive: true });
  }
});
