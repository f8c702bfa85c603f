// Tests the table of media types and its lookups.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ADDED_MEDIA_TYPES,
  isOtherKind,
  parseMimeEssence,
  MEDIA_TYPES,
  type MediaType,
  findMediaType,
  selectMediaTypes,
} from './media-type.ts';

const image = findMediaType('image/png') as MediaType;
const video = findMediaType('video/mp4') as MediaType;

describe('the table', () => {
  test('names the types of B1 and no others', () => {
    expect(MEDIA_TYPES.map((type) => type.mime)).toEqual([
      'image/jpeg',
      'image/png',
      'image/webp',
      'image/avif',
      'image/gif',
      'image/heic',
      'image/heif',
      'video/mp4',
      'video/quicktime',
      'video/webm',
      'video/x-matroska',
      'video/matroska',
      'video/mp2t',
      'video/3gpp',
      'video/3gpp2',
      'audio/mpeg',
      'audio/mp4',
      'audio/aac',
      'audio/wav',
      'audio/flac',
      'audio/ogg',
      'audio/webm',
    ]);
  });
  test('of added types contains none that is allowed by default', () => {
    expect(ADDED_MEDIA_TYPES.map((type) => type.mime)).toEqual([
      'video/x-msvideo',
      'video/mpeg',
      'video/x-flv',
      'video/x-ms-wmv',
      'video/x-ms-asf',
      'video/ogg',
      'application/mxf',
    ]);
    expect(ADDED_MEDIA_TYPES.filter((type) => MEDIA_TYPES.includes(type))).toEqual([]);
  });
  test.each([
    ['image/jpg', 'image/jpeg'],
    ['video/x-m4v', 'video/mp4'],
    ['video/avi', 'video/x-msvideo'],
    ['video/msvideo', 'video/x-msvideo'],
    ['video/vnd.avi', 'video/x-msvideo'],
  ])('has the alias %s of %s', (alias, mime) => expect(findMediaType(alias)?.mime).toBe(mime));
  test('kind and name agree, and every extension fits an object key', () => {
    for (const type of MEDIA_TYPES) {
      expect(type.mime.startsWith(`${type.kind}/`)).toBe(true);
      expect(type.extension).toMatch(/^[a-z0-9]{1,8}$/);
    }
  });
});

describe('a mime type', () => {
  test.each([
    'video/mp4',
    'VIDEO/MP4',
    ' video/mp4 ',
    'video/mp4; codecs="avc1.64001f, mp4a.40.2"',
    'Video/Mp4;',
    'video/mp4\t;x=y',
  ])('%j is MP4', (mime) => {
    expect(findMediaType(mime)).toBe(video);
    expect(parseMimeEssence(mime)).toBe('video/mp4');
  });
  test.each([
    '',
    ' ',
    'mp4',
    'video',
    'video/',
    '/mp4',
    'video/mp4/x',
    'video/mp4, text/html',
    'text/html, video/mp4',
    'video /mp4',
    'video/ mp4',
    'video/*',
    '*/*',
    'video/mp4\n',
    'video/mp4\r\nX-Injected: 1',
    'video/mp4;\r\nX-Injected: 1',
    'video/mp4\u0000',
    'video/mp４',
    'vıdeo/mp4',
    ';video/mp4',
    'image/svg+xml',
    'image/svg+xml; charset=utf-8',
    'text/html',
    'application/xhtml+xml',
    'application/vnd.apple.mpegurl',
    'application/octet-stream',
    'constructor',
    '__proto__',
    'toString/valueOf',
  ])('%j is none', (mime) => {
    expect(findMediaType(mime)).toBeUndefined();
  });
  test('any text can be parsed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const found = findMediaType(text);
        expect(found === undefined || MEDIA_TYPES.includes(found)).toBe(true);
        expect(findMediaType(`image/gif; ${text}`)?.mime).toBe(
          /^[\t\x20-\x7e]*$/.test(text) ? 'image/gif' : undefined,
        );
      }),
    );
  });
});

describe('a selection', () => {
  test('keeps the named types in the order of the tables', () => {
    const { types, unknown } = selectMediaTypes(['VIDEO/webm', 'video/avi', 'image/png']);
    expect(types.map(({ mime }) => mime)).toEqual(['image/png', 'video/webm', 'video/x-msvideo']);
    expect(unknown).toEqual([]);
  });
  test('restricts the lookup', () => {
    const { types } = selectMediaTypes(['image/png']);
    expect(findMediaType('image/gif', types)).toBeUndefined();
    expect(findMediaType('image/png', types)).toBe(image);
  });
  test('may add to the default types', () => {
    expect(selectMediaTypes(['default']).types).toEqual(MEDIA_TYPES);
    const { types } = selectMediaTypes(['default', 'application/mxf']);
    expect(types).toEqual([...MEDIA_TYPES, findMediaType('application/mxf')]);
  });
  test('names what does not exist: SVG and HTML stay out', () => {
    expect(selectMediaTypes(['image/svg+xml', 'image/png', 'text/html'])).toEqual({
      types: [image],
      unknown: ['image/svg+xml', 'text/html'],
    });
  });
});

describe('a content type', () => {
  test.each(['image', 'IMAGE', 'image/png', 'image/jpeg', 'Image/anything', ' image / png'])(
    '%j names another kind than a video, not an image',
    (text) => {
      expect(isOtherKind(text, video)).toBe(true);
      expect(isOtherKind(text, image)).toBe(false);
    },
  );
  test.each(['video', 'Video', 'video/mp4', 'video/anything'])(
    '%j names another kind than an image, not a video',
    (text) => {
      expect(isOtherKind(text, image)).toBe(true);
      expect(isOtherKind(text, video)).toBe(false);
    },
  );
  test.each([
    'avatar',
    'lesson',
    'images',
    'videoclip',
    'application/octet-stream',
    'my image',
    'x/video',
    '文件',
  ])('%j names no other kind', (text) => {
    expect(isOtherKind(text, image)).toBe(false);
    expect(isOtherKind(text, video)).toBe(false);
  });
});
