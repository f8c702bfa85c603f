// Tests what a request for an image may ask for unsigned, by preset and with a signature (contract B5).
import { describe, expect, test } from 'vitest';
import { imageTextToSign } from '@mediary/media-rules/image-signature';
import { toSecret } from '../../auth/secret.ts';
import { hmacSha256, toBase64url } from '../../auth/signature.ts';
import { imagePresetsSetting } from './image-presets.ts';
import { allowRequest, imageSigningKey } from './image-request.ts';

const ID = '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e';
const [current, previous] = [toSecret('the current secret'), toSecret('the previous secret')];
const PRESETS = 'hero?w=1600&h=600&fit=cover&gravity=0.5,0.2 ; tiny?w=20&quality=30';
const presetsOf = (given: string | undefined) => {
  const problems: string[] = [];
  const presets = imagePresetsSetting.parse({ given, previous: undefined }, (each) => problems.push(each));
  return { presets, problems };
};
const settings = {
  ...{ maxVariantBytes: 1, variantRetrySeconds: 1, photoLocation: 'off' as const },
  imagePresets: presetsOf(PRESETS).presets,
};

const NUMBERS = new Set(['w', 'h', 'quality', 'blur', 'rotate', 'dpr']);
/** As the validation of the route reads them. */
const ask = (text: string) => {
  const search = new URLSearchParams(text);
  const query = Object.fromEntries(
    [...search].map(([name, value]) => [name, NUMBERS.has(name) ? Number(value) : value]),
  );
  return allowRequest({ settings, urlSecrets: [current, previous] }, { assetId: ID, query, search });
};
const signatureOf = (text: string, { id = ID, root = current } = {}) =>
  toBase64url(hmacSha256(imageSigningKey(root).key, imageTextToSign(id, new URLSearchParams(text))));

describe('unsigned', () => {
  test('offered sizes are allowed, others are redirected', () => {
    expect(ask('w=640&format=webp')).toEqual({ query: { w: 640, format: 'webp' } });
    expect(ask('w=600')).toEqual({ redirectTo: { w: 640 } });
  });

  test.each([
    'gravity=attention',
    'quality=80',
    'blur=2',
    'background=ffffff',
    'rotate=90',
    'dpr=2',
    'fit=fill',
  ])('%s needs a signature', (text) => {
    const [field] = text.split('=');
    expect(() => ask(`w=640&${text}`)).toThrow(
      expect.objectContaining({ code: 'UNAUTHORIZED', details: { reason: 'missing', field } }),
    );
  });

  test('a crop that is not offered is refused', () => {
    expect(() => ask('w=640&h=480&fit=cover')).toThrow(/not offered unsigned/);
  });
});

describe('signed', () => {
  const text = 'w=601&h=333&fit=cover&gravity=0.25,1&dpr=2&quality=55';

  test('any size and edit is allowed, in any order of its parameters, by either secret', () => {
    const query = { w: 601, h: 333, fit: 'cover', gravity: '0.25,1', dpr: 2, quality: 55 };
    for (const root of [current, previous])
      expect(ask(`${text}&s=${signatureOf(text, { root })}`)).toEqual({
        query: expect.objectContaining(query),
      });
    const reversed = text.split('&').toReversed().join('&').replace(',', '%2C');
    expect(ask(`v=3&s=${signatureOf(text)}&${reversed}`)).toEqual({ query: expect.objectContaining(query) });
  });

  test.each([
    ['of another image', text, signatureOf(text, { id: ID.replace('019', '018') })],
    ['of another secret', text, signatureOf(text, { root: toSecret('another') })],
    ['of other parameters', text.replace('601', '602'), signatureOf(text)],
    ['of fewer parameters', `${text}&blur=50`, signatureOf(text)],
    ['of more parameters', text.replace('&dpr=2', ''), signatureOf(text)],
    ['that is cut off', text, signatureOf(text).slice(0, 22)],
    ['that is empty', text, ''],
    ['that is no base64url', text, `${signatureOf(text)}=`],
  ])('a signature %s is refused', (_, asked, signature) => {
    expect(() => ask(`${asked}&s=${signature}`)).toThrow(
      expect.objectContaining({ code: 'UNAUTHORIZED', details: { reason: 'bad_signature', field: 's' } }),
    );
  });
});

describe('a preset', () => {
  test('needs no signature, and takes a format and a pixel ratio', () => {
    const hero = { w: 1600, h: 600, fit: 'cover', gravity: '0.5,0.2' };
    expect(ask('preset=hero')).toEqual({ query: hero });
    expect(ask('preset=hero&format=jpeg&dpr=2')).toEqual({ query: { ...hero, format: 'jpeg', dpr: 2 } });
    expect(ask('preset=tiny')).toEqual({ query: { w: 20, quality: 30 } });
  });

  test('leaves unknown parameters alone', () => {
    expect(ask('preset=tiny&utm_source=mail&v=3')).toEqual(ask('preset=tiny'));
  });

  test('that is unknown is refused with the known ones', () => {
    expect(() => ask('preset=huge')).toThrow(
      expect.objectContaining({
        details: { field: 'preset', reason: 'unsupported_value', allowed: ['hero', 'tiny'] },
      }),
    );
  });

  test.each(['w=64', 's=x', 'gravity=center'])('is refused beside %s', (text) => {
    expect(() => ask(`preset=hero&${text}`)).toThrow(
      expect.objectContaining({
        details: { reason: 'not_with_preset', field: text.split('=')[0] },
      }),
    );
  });

  test.each([
    ['hero', '"hero" is no name and parameters, as in hero?w=1600'],
    ['Hero?w=1', '"Hero?w=1" is no name and parameters'],
    ['a?w=0', 'a: w must be >= 1'],
    ['a?w=10&h=ten', 'a: h must be integer'],
    ['a?width=10', 'a: width is not one of w, h, fit'],
    ['a?rotate=45', 'a: rotate must be'],
    ['a?gravity=1.5,0', 'a: gravity must match'],
    ['a?w=1;a?w=2', '"a" is named twice'],
  ])('that is written as %j is named at the start', (given, problem) => {
    expect(presetsOf(given).problems.join('\n')).toContain(problem);
  });

  test('may be missing altogether', () => {
    expect(presetsOf(undefined)).toEqual({ presets: new Map(), problems: [] });
    expect(presetsOf(PRESETS).problems).toEqual([]);
  });
});
