// Tests that object keys contain only ids and constant file names.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assetPrefixes,
  captionKey,
  isRenditionName,
  isOwnObjectKey,
  originalKey,
  uploadKey,
  originalPrefix,
  posterName,
  renditionFolder,
  renditionKey,
  renditionPrefix,
  renditionsPrefix,
  parseOriginalName,
  storeRoots,
  tailKey,
  tailPrefix,
  THUMBNAIL,
  variantKey,
  variantsPrefix,
} from './object-key.ts';

const originalOf = (id: string) => originalKey({ id, original_upload: id });

const ID = '0198c5f2-7a3b-7def-8123-456789abcdef';
const OTHER = '0198c5f2-7a3b-7def-8123-000000000000';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const HOSTILE = [
  '',
  ' ',
  '.',
  '..',
  '../x',
  '../../etc/passwd',
  '/etc/passwd',
  '/',
  'a/b',
  'a\\b',
  '..\\x',
  '%2e%2e',
  'a\0b',
  '\0',
  'a\n',
  '\n',
  'é',
  '😀',
  '😀.ts',
  'a..b',
  '~',
  '-',
  '*',
  'a b',
  'ﬁ.ts',
  '.hidden',
  'x.',
  'x'.repeat(300),
  '../a.ts',
  'a.ts/..',
  '../1-1',
  '1-1/..',
];

function isId(text: string): boolean {
  try {
    return originalOf(text) !== undefined;
  } catch {
    return false; // Throwing is how a part is refused.
  }
}

test('the name of an original tells its upload, and whether it is a tail', () => {
  const nameOf = (key: string) => key.slice(key.lastIndexOf('/') + 1);
  const upload = uploadKey(ID, OTHER);
  expect(parseOriginalName(nameOf(upload))).toEqual({ upload: OTHER, isTail: false });
  expect(parseOriginalName(nameOf(tailKey(upload, ID)))).toEqual({ upload: OTHER, isTail: true });
  expect(parseOriginalName('original')).toEqual({ upload: 'original', isTail: false });
});

describe('keys', () => {
  test('consist of ids and constant names', () => {
    expect(originalOf(ID)).toBe(`originals/${ID}/${ID}`);
    expect(renditionKey(ID, renditionFolder(2, 13), 'v720_00001.m4s')).toBe(
      `renditions/${ID}/2-13/v720_00001.m4s`,
    );
    expect(variantKey(ID, 'w640-cover.avif')).toBe(`variants/${ID}/w640-cover.avif`);
    expect(assetPrefixes(ID)).toEqual(
      ['originals', 'renditions', 'variants', 'captions'].map((kind) => `${kind}/${ID}/`),
    );
    expect(captionKey(ID, OTHER)).toBe(`captions/${ID}/${OTHER}.vtt`);
    expect([originalPrefix(ID), renditionsPrefix(ID), renditionPrefix(ID, '2-13')]).toEqual([
      `originals/${ID}/`,
      `renditions/${ID}/`,
      `renditions/${ID}/2-13/`,
    ]);
    const [upload, tail] = [uploadKey(ID, OTHER), tailKey(uploadKey(ID, OTHER), ID)];
    expect(tail).toBe(`originals/${ID}/${OTHER}.tail-${ID}`);
    expect(tail.startsWith(tailPrefix(upload))).toBe(true);
    expect(variantsPrefix(ID)).toBe(`variants/${ID}/`);
    expect(storeRoots()).toEqual(['originals/', 'renditions/', 'variants/', 'captions/']);
    expect(renditionKey(ID, '2-13', THUMBNAIL)).toBe(`renditions/${ID}/2-13/thumb.jpg`);
    expect(renditionKey(ID, '2-13', posterName(1500))).toBe(`renditions/${ID}/2-13/poster-1500.jpg`);
  });

  test('of an original follow the upload that its asset points to', () => {
    const upload = randomUUID();
    expect(uploadKey(ID, upload)).toBe(`originals/${ID}/${upload}`);
    expect(originalKey({ id: ID, original_upload: upload })).toBe(uploadKey(ID, upload));
    expect(() => uploadKey(ID, 'original')).toThrow();
  });

  test('are equal for ids in upper and lower case', () => {
    const mixed = randomUUID();
    expect(originalOf(mixed.toUpperCase())).toBe(originalOf(mixed));
    expect(renditionPrefix(ID.toUpperCase(), '1-1')).toBe(renditionPrefix(ID, '1-1'));
  });

  test('are plain and short even with the longest parts', () => {
    const longest = renditionKey(
      ID,
      `${'9'.repeat(10)}-${'9'.repeat(10)}`,
      `${'a'.repeat(61)}.${'b'.repeat(8)}`,
    );
    expect(longest).toMatch(/^[a-z0-9._/-]{1,200}$/);
  });
});

test('only keys of the service are recognised as such', () => {
  const upload = uploadKey(ID, OTHER);
  for (const key of [
    originalOf(ID),
    upload,
    tailKey(upload, ID),
    renditionKey(ID, '2-13', 'v720_00001.m4s'),
    variantKey(ID, 'w640-cover.avif'),
    captionKey(ID, OTHER),
  ])
    expect(isOwnObjectKey(key), key).toBe(true);
  for (const key of [
    ...storeRoots(),
    ...assetPrefixes(ID),
    'originals/.nfs0000000001',
    'originals/.DS/Store',
    `originals/${ID}`,
    `originals/${ID}/.DS_Store`,
    `originals/${ID}/${OTHER}/copy`,
    `originals/${ID}/${OTHER}.tail-x`,
    `renditions/${ID}/2-13`,
    `renditions/${ID}/2-13/Thumbs.db`,
    `renditions/${ID}/backup/v720.m4s`,
    `variants/${ID}/w640.avif/copy`,
    `captions/notes/${OTHER}.vtt`,
    `health/${ID}/a.txt`,
  ])
    expect(isOwnObjectKey(key), key).toBe(false);
});

describe('invalid parts are rejected', () => {
  const makers: [string, (part: string) => unknown][] = [
    ['an id', originalOf],
    ['the id of a prefix', originalPrefix],
    ['the id of all prefixes', assetPrefixes],
    ['the id of renditions', renditionsPrefix],
    ['the id of a rendition', (part) => renditionKey(part, '1-1', 'a.ts')],
    ['the id of a variant', (part) => variantKey(part, 'a.webp')],
    ['a folder', (part) => renditionKey(ID, part, 'a.ts')],
    ['the folder of a prefix', (part) => renditionPrefix(ID, part)],
    ['a file', (part) => renditionKey(ID, '1-1', part)],
    ['a variant file', (part) => variantKey(ID, part)],
  ];

  test.for(makers)('%s that is hostile', ([, make]) => {
    for (const part of HOSTILE)
      expect(() => make(part), JSON.stringify(part)).toThrow('not a part of an object key');
  });

  test('an id with something before, behind or in it', () => {
    for (const part of HOSTILE.filter((hostile) => hostile !== '')) {
      expect(() => originalOf(part + ID)).toThrow();
      expect(() => originalOf(ID + part)).toThrow();
      expect(() => originalOf(ID.slice(0, 20) + part + ID.slice(21))).toThrow();
    }
  });

  test('any text that is not a UUID', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        fc.pre(!UUID.test(text));
        expect(() => originalOf(text)).toThrow();
      }),
    );
  });

  test('any character that is not a hexadecimal digit, also when its lower case is in ASCII', () => {
    const accepted = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => isId(character + ID.slice(1)),
    );
    expect(accepted.join('')).toBe('0123456789ABCDEFabcdef');
  });

  test('files have one plain name and one extension', () => {
    const names = fc.string({ unit: fc.constantFrom(...'ab9._-/\\ A\0é'), maxLength: 12 });
    fc.assert(
      fc.property(names, (name) => {
        const safe = isRenditionName('1-1', name);
        if (safe) expect(renditionKey(ID, '1-1', name).split('/')).toEqual(['renditions', ID, '1-1', name]);
        else expect(() => renditionKey(ID, '1-1', name)).toThrow();
        expect(safe && /^[.]|[.][.]|[^a-z0-9._-]/.test(name)).toBe(false);
      }),
    );
  });

  test('a name from a URL is validated before a key is built', () => {
    expect(isRenditionName('1-1', 'init.mp4')).toBe(true);
    for (const part of HOSTILE) {
      expect(isRenditionName(part, 'init.mp4')).toBe(false);
      expect(isRenditionName('1-1', part)).toBe(false);
    }
  });
});
