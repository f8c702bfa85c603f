// Tests the tokens for delivery and upload with vectors computed from the product's formulas.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toSecret } from '../../auth/secret.ts';
import { presignature } from './cdnhost-presign.ts';
import { assetIdIn, titleOf } from './cdnhost-title.ts';
import { folderToken, signedFolder } from './cdnhost-token.ts';

const GUID = '11112222-3333-4444-8555-666677778888';
const EXPIRES = 1_700_003_600;

describe('the token of a folder', () => {
  const wish = { key: toSecret('zone-key'), folder: `/${GUID}/`, expires: EXPIRES };

  test("is an HMAC of the folder, the time and the folder's own parameter", () => {
    expect(folderToken(wish)).toBe('HS256-9ps7i7pnr2CWwDCxQi1euMyedoFbaZbxNK3zSBEzfRk');
  });

  test('precedes the folder in the path, so that relative URLs in playlists keep it', () => {
    expect(signedFolder(wish)).toBe(
      `/bcdn_token=HS256-9ps7i7pnr2CWwDCxQi1euMyedoFbaZbxNK3zSBEzfRk&token_path=%2F${GUID}%2F&expires=${EXPIRES}/${GUID}/`,
    );
    const playlist = new URL(`https://vz-1.example${signedFolder(wish)}playlist.m3u8`);
    expect(new URL('720p/video.m3u8', playlist).pathname).toBe(`${signedFolder(wish)}720p/video.m3u8`);
  });

  test('is another one for another key, folder or time', () => {
    const others = [
      { key: toSecret('zone-kez') },
      { folder: `/${GUID.replace('1', '2')}/` },
      { expires: EXPIRES + 1 },
    ].map((change) => folderToken({ ...wish, ...change }));
    expect(new Set([folderToken(wish), ...others]).size).toBe(4);
  });
});

test('an upload is signed by a hash of library, key, time and video', () => {
  const signing = { libraryId: '4242', apiKey: toSecret('library-key'), expires: EXPIRES, videoId: GUID };
  expect(presignature(signing)).toBe('635c85d0726128900db3eb24f0df4d0801758e7d693d6355737448e6c1e6fa57');
  expect(presignature({ ...signing, expires: EXPIRES + 1 })).not.toBe(presignature(signing));
});

describe('the title of a video', () => {
  const assetId = '0198c0de-0000-7000-8000-000000000001';

  test('contains its asset id for any file name', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 300 }),
          fc.constantFrom(`x [mediary:${GUID}]`, '[mediary:', ']', '🎬'.repeat(255), `x${'🎬'.repeat(255)}`),
        ),
        (filename) => {
          const title = titleOf({ filename, assetId });
          expect([assetIdIn(title), title.length < 255, title.isWellFormed()]).toEqual([assetId, true, true]);
        },
      ),
    );
    expect(titleOf({ filename: 'clip.mp4', assetId })).toBe(`clip.mp4 [mediary:${assetId}]`);
  });

  test.each([
    undefined,
    null,
    7,
    '',
    'clip.mp4',
    `[mediary:${GUID}] clip.mp4`,
    '[mediary:------------------------------------]',
    `[mediary:${GUID.slice(1)}]`,
    `(mediary:${GUID})`,
  ])('of a stranger names none: %j', (title) => {
    expect(assetIdIn(title)).toBeUndefined();
  });
});
