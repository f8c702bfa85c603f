// Tests the playback token: a JWT that the product's verification accepts, valid for at most one day.
import { createPrivateKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { replaceInUrls } from '../shared/hosted-settings.ts';
import { parseSigningKey, createVideoToken } from './edgehost-signatures.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const UID = '00112233445566778899aabbccddeeff';
const NOW = 1_700_000_000;
const pemOf = (type: 'pkcs1' | 'pkcs8') => privateKey.export({ type, format: 'pem' }).toString();
const signer = { id: 'key-1', key: privateKey };

function opened(token: string, key: KeyObject = publicKey) {
  const [head = '', claims = '', signature = ''] = token.split('.');
  expect(
    verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url')),
  ).toBe(true);
  return [head, claims].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown);
}

describe('a token', () => {
  test('is signed by RS256 and names the video and the key', () => {
    expect(opened(createVideoToken(signer, { videoId: UID, expires: NOW + 3600, now: NOW }))).toEqual([
      { alg: 'RS256', kid: 'key-1' },
      { sub: UID, kid: 'key-1', exp: NOW + 3600 },
    ]);
  });

  test('lives for less than a day, and for no fraction of a second', () => {
    const lifeOf = (seconds: number) =>
      (
        opened(createVideoToken(signer, { videoId: UID, expires: NOW + seconds, now: NOW + 0.4 }))[1] as {
          exp: number;
        }
      ).exp - NOW;
    expect([60, 80_000, 86_400, 1e7].map(lifeOf)).toEqual([60, 80_000, 86_100, 86_100]);
  });

  test('permits downloads when requested', () => {
    expect(
      opened(createVideoToken(signer, { videoId: UID, expires: NOW, now: NOW, downloadable: true }))[1],
    ).toMatchObject({ downloadable: true });
  });

  test("replaces the video's id in each URL that contains it", () => {
    const urls = {
      hls: `https://c.example/${UID}/manifest/video.m3u8?clientBandwidthHint=3`,
      dash: `https://other.example/video.mpd#${UID}`,
      thumbnail: null,
    };
    expect(replaceInUrls(urls, `/${UID}/`, '/$&.token/')).toEqual({
      hls: 'https://c.example/$&.token/manifest/video.m3u8?clientBandwidthHint=3',
      dash: urls.dash,
      thumbnail: null,
    });
  });
});

describe('the key', () => {
  test.each(['pkcs1', 'pkcs8'] as const)(
    'is read from %s: as text, with its line ends written out, and as the product hands it out',
    (type) => {
      const pem = pemOf(type);
      for (const text of [
        pem,
        pem.replaceAll('\n', '\\n'),
        Buffer.from(pem).toString('base64'),
        pem.replaceAll('\n', '\r\n'),
      ]) {
        opened(
          createVideoToken(
            { id: 'key-1', key: parseSigningKey(text) as KeyObject },
            { videoId: UID, expires: NOW, now: NOW },
          ),
        );
      }
    },
  );

  test.each([
    ['nothing', ''],
    ['words', 'no key'],
    ['a public key', publicKey.export({ type: 'spki', format: 'pem' }).toString()],
    [
      'a key of another kind',
      generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString(),
    ],
    ['a key that is cut', pemOf('pkcs8').slice(0, 400)],
    [
      'a key that is locked',
      createPrivateKey(pemOf('pkcs8'))
        .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
        .toString(),
    ],
  ])('is not made of %s', (_, text) => {
    expect(parseSigningKey(text)).toBeUndefined();
    expect(parseSigningKey(Buffer.from(text).toString('base64'))).toBeUndefined();
  });
});
