// Tests which paths of an encrypted video have a file, and the key and IV of its segments.
import { describe, expect, test } from 'vitest';
import { toSecret } from '../auth/secret.ts';
import { deriveSegmentKey } from '../auth/tickets/segment-key.ts';
import { createVideo } from '../lifecycle/asset.fixture.ts';
import { toSequenceIv } from '../storage/segment-cipher.ts';
import { currentKeyId, findEncryptedFile } from './encrypted-files.ts';

const [current, previous] = [toSecret('current'), toSecret('previous')];
const secrets = [current, previous];
const video = createVideo({ playback: { kind: 'own', attempt: 2, folder: '2-1' }, playback_version: 5 });
const scope = { assetId: video.id, folder: '2-1', playbackVersion: 5 };
const id = currentKeyId(secrets, video, '2-1');
const find = (path: string, asset = video) => findEncryptedFile(secrets, asset, path);
const NOT_FOUND = expect.objectContaining({ code: 'NOT_FOUND' });

describe('a file in the folder of a key', () => {
  test('is the key of a track', () => {
    expect(find(`2-1/${id}/r3.key`)).toEqual({ kind: 'key', bytes: deriveSegmentKey(current, scope, 3) });
  });

  test('is a segment with the key of its track and its number as IV', () => {
    expect(find(`2-1/${id}/r3-00258.m4s`)).toEqual({
      kind: 'segment',
      key: `renditions/${video.id}/2-1/r3-00258.m4s`,
      cipher: { key: deriveSegmentKey(current, scope, 3), iv: toSequenceIv(258) },
    });
  });

  test('is the init segment, which is not encrypted', () => {
    expect(find(`2-1/${id}/r3-init.mp4`)).toEqual({
      kind: 'init',
      key: `renditions/${video.id}/2-1/r3-init.mp4`,
    });
  });

  test('is the playlist of a track', () => {
    expect(find(`2-1/${id}/r3.m3u8`)).toEqual({ kind: 'playlist', name: 'r3.m3u8', keyId: id });
  });

  test('has the key of the secret that its id belongs to', () => {
    const before = currentKeyId([previous], video, '2-1');
    expect(find(`2-1/${before}/r3.key`)).toEqual({
      kind: 'key',
      bytes: deriveSegmentKey(previous, scope, 3),
    });
  });
});

describe('not found is', () => {
  test('a key id of another secret, version or run', () => {
    const others = [
      currentKeyId([toSecret('other')], video, '2-1'),
      currentKeyId(secrets, { ...video, playback_version: 6 }, '2-1'),
      currentKeyId(secrets, video, '1-1'),
    ];
    for (const other of others) expect(() => find(`2-1/${other}/r3.key`)).toThrow(NOT_FOUND);
  });

  test('a run that is not published, and a video of others', () => {
    const path = `1-1/${currentKeyId(secrets, video, '1-1')}/r3.key`;
    expect(() => find(path)).toThrow(NOT_FOUND);
    expect(() => find(`2-1/${id}/r3.key`, { ...video, playback: null })).toThrow(NOT_FOUND);
  });
});

test.each([
  'hls.m3u8',
  '2-1/r3-00001.m4s',
  `2-1/${id}/r3-iframes.m3u8`,
  `2-1/${id}/video.mp4`,
  `2-1/${id}/dash.mpd`,
  `2-1/${id}/r3-1.m4s`,
  `2-1/${id}/r3-init.mp4/x`,
  `2-1/${id}/../r3-00001.m4s`,
  `2-1/${id.toUpperCase()}A/r3.key`,
  `/2-1/${id}/r3.key`,
])('%j is no such path', (path) => expect(find(path)).toBeUndefined());
