// Tests the signatures of both providers with independently computed vectors.
import { describe, expect, test } from 'vitest';
import {
  cdnToken,
  embedToken,
  presignature,
  webhookSignature as cdnhostSignature,
} from './cdnhost/signatures.ts';
import {
  webhookSignature as edgehostSignature,
  newSigningKey,
  openToken,
  signingKeyFrom,
  signToken,
} from './edgehost/signatures.ts';

const VIDEO = '11112222-3333-4444-8555-666677778888';
const EXPIRES = '1700003600';

describe('cdnhost', () => {
  test('signs a webhook with the read-only key', () => {
    expect(
      cdnhostSignature('cdnhost-read-only-key', `{"VideoLibraryId":4242,"VideoGuid":"${VIDEO}","Status":3}`),
    ).toBe('e40746eba5a525953f8039be78f9ff7ffde56ef0a9b6db559c6589574ffa3f39');
  });
  test('opens an upload by a hash over library, key, expiry and video', () => {
    expect(presignature({ libraryId: '4242', apiKey: 'library-key', expires: EXPIRES, video: VIDEO })).toBe(
      '635c85d0726128900db3eb24f0df4d0801758e7d693d6355737448e6c1e6fa57',
    );
  });
  test('opens a folder by a directory token, and a player page by an embed token', () => {
    const path = `/${VIDEO}/`;
    expect(
      cdnToken({
        key: 'zone-key',
        path,
        expires: EXPIRES,
        parameters: new URLSearchParams({ token_path: path }),
      }),
    ).toBe('HS256-9ps7i7pnr2CWwDCxQi1euMyedoFbaZbxNK3zSBEzfRk');
    expect(embedToken('token-key', VIDEO, EXPIRES)).toBe(
      'a3cf53462a849340835110c7e874c9bead5d146fea1a7ed37b8027141609a945',
    );
  });
});

describe('edgehost', () => {
  test('signs a webhook over its time and its body', () => {
    expect(
      edgehostSignature(
        'edgehost-secret',
        1700000000,
        '{"uid":"00112233445566778899aabbccddeeff","readyToStream":true,"status":{"state":"ready"}}',
      ),
    ).toBe('90d11adb96997976febf9894e43495787cd1ae1b15e14b556a22888834e54327');
  });
  test('admits a token by its own key for at most a day ahead, and nothing else', async () => {
    const key = await newSigningKey('2026-01-01T00:00:00Z');
    const keys = new Map([[key.id, signingKeyFrom(key)]]);
    const claims = { sub: 'a'.repeat(32), kid: key.id, exp: 10_000 };
    const token = signToken(key, claims);
    const otherKey = { ...(await newSigningKey('')), id: key.id };

    expect(openToken(token, keys, 9_999)).toEqual(claims);
    expect(openToken(token, keys, 10_000)).toBeUndefined();
    expect(openToken(signToken(key, { ...claims, exp: 86_402 }), keys, 1)).toBeUndefined();
    expect(openToken(signToken(key, { ...claims, nbf: 9_000 }), keys, 8_999)).toBeUndefined();
    expect(openToken(signToken(otherKey, claims), keys, 1)).toBeUndefined();
    expect(openToken('not.a.token', keys, 1)).toBeUndefined();
  });
});
