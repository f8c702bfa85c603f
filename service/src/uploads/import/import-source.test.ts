// Tests how an imported file gets its name and its type.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MEDIA_TYPES } from '@mediary/media-rules/media-type';
import { attachment } from '../../platform/http/headers.ts';
import { isFilename } from '../upload-request.ts';
import { describeSource } from './import-source.ts';

const MP4 = { url: 'https://a.example/x/from-url.mp4?sig=1#f', contentType: 'video/mp4' };
const nameOf = (contentDisposition: string | null, url = MP4.url) =>
  describeSource({ ...MP4, url, contentDisposition }, MEDIA_TYPES).filename;
const typeOf = (contentType: string | null, url = MP4.url) =>
  describeSource({ url, contentType, contentDisposition: null }, MEDIA_TYPES).mediaType?.mime;
/** As Node decodes the bytes of a header. */
const asHeader = (text: string) => Buffer.from(text).toString('latin1');

describe('the file name', () => {
  test.each([
    ['attachment; filename=launch.mp4', 'launch.mp4'],
    ['attachment; filename="launch day.mp4"', 'launch day.mp4'],
    ['inline;filename="a.mp4"; size=3', 'a.mp4'],
    ['ATTACHMENT; FILENAME="a.mp4"', 'a.mp4'],
    ['attachment; filename = "a.mp4"', 'a.mp4'],
    ['filename="a.mp4"', 'a.mp4'],
    ['attachment; filename="say \\"hi\\".mp4"', 'say "hi".mp4'],
    ['attachment; filename="a;b=c.mp4"', 'a;b=c.mp4'],
    ['attachment; filename="x; filename*=UTF-8\'\'evil.exe"', "x; filename*=UTF-8''evil.exe"],
    ['attachment; filename="plain.mp4"; filename*=UTF-8\'\'na%C3%AFve%20%E2%82%AC.mp4', 'naïve €.mp4'],
    ["attachment; filename*=utf-8'en'a%2Eb.mp4; filename=plain.mp4", 'a.b.mp4'],
    ["attachment; filename*=ISO-8859-1''%A3.mp4", '£.mp4'],
    ["attachment; filename*=UTF-8''%ff%fe; filename=plain.mp4", 'plain.mp4'],
    ["attachment; filename*=KOI8-R''%C1; filename=plain.mp4", 'plain.mp4'],
    ["attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", 'passwd'],
    ['attachment; filename="../../etc/passwd"', 'passwd'],
    ['attachment; filename="C:\\\\Users\\\\a\\\\b.mp4"', 'b.mp4'],
    [asHeader('attachment; filename="日本.mp4"'), '日本.mp4'],
    ['attachment; filename="\u00e4.mp4"', 'ä.mp4'],
    ["attachment; filename*=UTF-8''a%0D%0Ab%00c.mp4", 'a b c.mp4'],
    ['attachment; filename="-rf.mp4"', '-rf.mp4'],
    ["attachment; filename*=UTF-8''a%EF%BF%BDb.mp4", 'a\ufffdb.mp4'],
  ])('%j gives %j', (disposition, expected) => expect(nameOf(disposition)).toBe(expected));

  test.each([
    null,
    '',
    'attachment',
    'attachment; filename=""',
    'attachment; filename="   "',
    'attachment; filename=".."',
    'attachment; filename="a/"',
    "attachment; filename*=UTF-8''%00",
    'attachment; xfilename=a.mp4',
  ])('%j gives the name in the URL', (disposition) => expect(nameOf(disposition)).toBe('from-url.mp4'));

  test.each([
    ['https://a.example/na%C3%AFve%20a.mp4', 'naïve a.mp4'],
    ['https://a.example/a%2Fb.mp4', 'b.mp4'],
    ['https://a.example/%2e%2e%5cb.mp4', 'b.mp4'],
    ['https://a.example/100%.mp4', '100%.mp4'],
    ['https://a.example/%00.mp4', '.mp4'],
    ['https://a.example/', 'import.mp4'],
    ['https://a.example/x/', 'import.mp4'],
    ['https://a.example/%2E%2E%2E', 'import.mp4'],
  ])('of %s is %j', (url, expected) => expect(nameOf(null, url)).toBe(expected));

  test('is shortened to 255 characters and keeps its extension', () => {
    expect(nameOf(`attachment; filename="${'a'.repeat(300)}.mp4"`)).toBe(`${'a'.repeat(251)}.mp4`);
    const cameras = asHeader('🎬'.repeat(300));
    expect([...nameOf(`attachment; filename="${cameras}.mp4"`)]).toHaveLength(255);
  });

  test('is one that the API accepts, whatever the headers say', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ maxLength: 600, minLength: 200 }));
    fc.assert(
      fc.property(text, text, (value, path) => {
        for (const disposition of [value, `attachment; filename="${value}"`, `a; filename*=UTF-8''${value}`])
          expect(isFilename(nameOf(disposition, `https://a.example/${path}`))).toBe(true);
      }),
    );
  });

  test('survives the header that this service itself sends', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 50 }), (name) => {
        fc.pre(isFilename(name) && !/[/\\]|^\.+$/.test(name) && name === name.trim());
        expect(nameOf(attachment(name))).toBe(name);
      }),
    );
  });
});

describe('the media type', () => {
  test.each([
    ['video/mp4', 'video/mp4'],
    ['Video/MP4; codecs="avc1.64001f"', 'video/mp4'],
    ['video/x-m4v', 'video/mp4'],
    ['image/jpg', 'image/jpeg'],
    ['image/png', 'image/png'],
    ['text/html; charset=utf-8', undefined],
    ['image/svg+xml', undefined],
    ['application/vnd.apple.mpegurl', undefined],
    ['video/mp4, text/html', undefined],
    ['', 'video/mp4'],
    [null, 'video/mp4'],
    ['application/octet-stream', 'video/mp4'],
    ['binary/octet-stream', 'video/mp4'],
  ])('of a file .mp4 sent as %j is %j', (contentType, expected) => {
    expect(typeOf(contentType)).toBe(expected);
  });

  test.each([
    ['photo.JPEG', 'image/jpeg'],
    ['clip.m4v', 'video/mp4'],
    ['clip.mkv', 'video/x-matroska'],
    ['page.html', undefined],
    ['clip', undefined],
  ])('of %s without a type comes from its extension: %j', (name, expected) => {
    expect(typeOf(null, `https://a.example/${name}`)).toBe(expected);
  });

  test('is one that the operator allows', () => {
    const images = MEDIA_TYPES.filter(({ kind }) => kind === 'image');
    expect(describeSource({ ...MP4, contentDisposition: null }, images).mediaType).toBeUndefined();
    expect(
      describeSource({ ...MP4, contentType: null, contentDisposition: null }, images).mediaType,
    ).toBeUndefined();
  });
});
