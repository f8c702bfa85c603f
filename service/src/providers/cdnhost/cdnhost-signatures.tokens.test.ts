// Tests the tokens for delivery and upload with vectors computed from the product's formulas.
import { describe, expect, test } from 'vitest';
import { toSecret } from '../../auth/secret.ts';
import { createFolderToken, signDirectUpload, signFolder } from './cdnhost-signatures.ts';

const GUID = '11112222-3333-4444-8555-666677778888';
const EXPIRES = 1_700_003_600;

describe('the token of a folder', () => {
  const token = { key: toSecret('zone-key'), folder: `/${GUID}/`, expires: EXPIRES };

  test("is an HMAC of the folder, the time and the folder's own parameter", () => {
    expect(createFolderToken(token)).toBe('HS256-9ps7i7pnr2CWwDCxQi1euMyedoFbaZbxNK3zSBEzfRk');
  });

  test('precedes the folder in the path, so that relative URLs in playlists keep it', () => {
    expect(signFolder(token)).toBe(
      '/bcdn_token=HS256-9ps7i7pnr2CWwDCxQi1euMyedoFbaZbxNK3zSBEzfRk' +
        `&token_path=%2F${GUID}%2F&expires=${EXPIRES}/${GUID}/`,
    );
    const playlist = new URL(`https://vz-1.example${signFolder(token)}playlist.m3u8`);
    expect(new URL('720p/video.m3u8', playlist).pathname).toBe(`${signFolder(token)}720p/video.m3u8`);
  });

  test('is another one for another key, folder or time', () => {
    const others = [
      { key: toSecret('zone-kez') },
      { folder: `/${GUID.replace('1', '2')}/` },
      { expires: EXPIRES + 1 },
    ].map((change) => createFolderToken({ ...token, ...change }));
    expect(new Set([createFolderToken(token), ...others]).size).toBe(4);
  });
});

test('an upload is signed by a hash of library, key, time and video', () => {
  const signing = { libraryId: '4242', apiKey: toSecret('library-key'), expires: EXPIRES, videoId: GUID };
  expect(signDirectUpload(signing)).toBe('635c85d0726128900db3eb24f0df4d0801758e7d693d6355737448e6c1e6fa57');
  expect(signDirectUpload({ ...signing, expires: EXPIRES + 1 })).not.toBe(signDirectUpload(signing));
});
