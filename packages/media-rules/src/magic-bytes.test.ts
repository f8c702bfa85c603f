// Tests the detection of file types under correct and wrong declared types.
import { globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip, TEST_DATA } from '../../../test/support/clips/clips.ts';
import { type FileType, detectFileType, HEAD_BYTES, checkFileType } from './magic-bytes.ts';
import { ADDED_MEDIA_TYPES, MEDIA_TYPES, type MediaType, findMediaType } from './media-type.ts';

const ALL = [...MEDIA_TYPES, ...ADDED_MEDIA_TYPES];
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const ftyp = (...brands: string[]) => {
  const names = [brands[0], '\0\0\0\0', ...brands.slice(1)].join('');
  return latin1(`\0\0\0${String.fromCharCode(8 + names.length)}ftyp${names}\0\0\0\x08free`);
};
const ebml = (docType: string, header = '') => {
  const body = `${header}\x42\x82${String.fromCharCode(0x80 + docType.length)}${docType}`;
  return latin1(`\x1a\x45\xdf\xa3${String.fromCharCode(0x80 + body.length)}${body}\x18\x53\x80\x67\xff`);
};
const packets = (length: number, sync: number, count: number) =>
  Buffer.concat(
    Array.from({ length: count }, () => {
      const packet = Buffer.alloc(length);
      packet[sync] = 0x47;
      return packet;
    }),
  );

const HEADS: readonly (readonly [string, FileType, Uint8Array])[] = [
  ['a JPEG', 'jpeg', latin1('\xff\xd8\xff\xe0\0\x10JFIF')],
  ['a PNG', 'png', latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')],
  ['a PNG whose line ends were changed', 'unknown', latin1('\x89PNG\n\x1a\n\0\0\0\rIHDR')],
  ['a GIF', 'gif', latin1('GIF89a\x01\0\x01\0')],
  ['a WebP whose length holds a line end', 'webp', latin1('RIFF\n\r\0\0WEBPVP8 ')],
  ['a WAV', 'wav', latin1('RIFF\x24\0\0\0WAVEfmt ')],
  ['a WAV of more than 4 GiB', 'wav', latin1('RF64\xff\xff\xff\xffWAVEds64')],
  ['a FLAC', 'flac', latin1('fLaC\0\0\0\x22')],
  ['an MP3 with tags', 'mp3', latin1('ID3\x04\0\0\0\0\0\x23')],
  ['an MP3 of MPEG-1', 'mp3', latin1('\xff\xfb\x90\x64')],
  ['an MP3 of MPEG-2.5', 'mp3', latin1('\xff\xe3\x18\xc4')],
  ['text in UTF-16', 'unknown', latin1('\xff\xfeh\0i\0')],
  ['AAC with headers', 'aac', latin1('\xff\xf1\x50\x80')],
  ['an AVIF', 'avif', ftyp('avif', 'mif1', 'miaf')],
  ['an AVIF under a generic brand', 'avif', ftyp('mif1', 'miaf', 'avif')],
  ['an AVIF sequence', 'avif', ftyp('avis', 'msf1', 'iso8')],
  ['a HEIC', 'heif', ftyp('heic', 'mif1')],
  ['a HEIC under a generic brand', 'heif', ftyp('mif1', 'heic')],
  ['a HEIF of an unknown coding', 'heif', ftyp('mif1', 'miaf')],
  ['an MP4', 'isobmff', ftyp('isom', 'iso2', 'avc1', 'mp41')],
  ['an MP4 that names a still brand beside its own', 'isobmff', ftyp('mp42', 'mif1', 'avif')],
  ['a 3GPP file', 'isobmff', ftyp('3gp4', 'isom')],
  ['a 3GPP2 file', 'isobmff', ftyp('3g2a', '3g2a')],
  ['an M4V file', 'isobmff', ftyp('M4V ', 'M4A ')],
  ['an MP4 of an unknown brand', 'isobmff', ftyp('XYZ9')],
  ['a QuickTime', 'isobmff', ftyp('qt  ')],
  ['a QuickTime without brands', 'isobmff', latin1('\0\0\0\x08wide\0\x10\0\0mdat')],
  ['a Canon raw image', 'unknown', ftyp('crx ', 'isom')],
  ['a JPEG 2000', 'unknown', latin1('\0\0\0\x0cjP  \r\n\x87\n')],
  ['a WebM', 'webm', ebml('webm')],
  ['a Matroska', 'matroska', ebml('matroska', '\x42\x86\x81\x01\xec\x82\0\0')],
  ['a Matroska with a padded name', 'matroska', ebml('matroska\0\0')],
  [
    'a Matroska whose header has an eight-byte length',
    'matroska',
    latin1('\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x0b\x42\x82\x88matroska'),
  ],
  ['an AVI', 'avi', latin1('RIFF\n\r\0\0AVI LIST')],
  ['a program stream', 'mpegps', latin1('\0\0\x01\xba\x44\0\x04\0')],
  ['an elementary stream', 'unknown', latin1('\0\0\x01\xb3\x14\0\xb4\0')],
  ['a Flash video', 'flv', latin1('FLV\x01\x05\0\0\0\x09')],
  ['a Flash video of another version', 'unknown', latin1('FLV\x02\x05\0\0\0\x09')],
  ['an ASF', 'asf', latin1('\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce\x6c')],
  ['the beginning of an ASF', 'unknown', latin1('\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce')],
  ['an Ogg', 'ogg', latin1('OggS\0\x02\0\0')],
  ['an MXF', 'mxf', latin1('\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01\x02\x04\0')],
  ['an EBML of another kind', 'unknown', ebml('constructor')],
  [
    'an EBML whose name comes after its header',
    'unknown',
    latin1('\x1a\x45\xdf\xa3\x84\x42\x86\x81\x01\x42\x82\x84webm'),
  ],
  ['a transport stream', 'mpegts', packets(188, 0, 6)],
  ['a transport stream of two packets', 'mpegts', packets(188, 0, 2)],
  ['a transport stream with time stamps', 'mpegts', packets(192, 4, 6)],
  ['text that begins with G', 'unknown', latin1('G'.padEnd(2000, 'o'))],
  ['one transport packet', 'unknown', packets(188, 0, 1)],
  ['HTML', 'unknown', latin1('<!doctype html><script>alert(1)</script>')],
  ['SVG', 'unknown', latin1('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['a ZIP', 'unknown', latin1('PK\x03\x04')],
  ['nothing', 'unknown', Buffer.alloc(0)],
];

const PLAYLISTS = [
  '#EXTM3U\n#EXT-X-VERSION:3\n',
  '#EXTM3U',
  '\ufeff#EXTM3U\n',
  ' \r\n\t#EXTM3U\n',
  '#extm3u\n',
  '# a remark\n\n# another\r\n#EXT-X-STREAM-INF:BANDWIDTH=1\n',
  '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"></MPD>',
  '<MPD>',
  '<!-- a remark --><mpd:MPD xmlns:mpd="urn:mpeg:dash:schema:mpd:2011">',
  '<SmoothStreamingMedia MajorVersion="2">',
  '<smil>',
  '<?xml version="1.0"?><playlist version="1">',
  '<ASX version="3.0">',
  'ffconcat version 1.0\nfile /etc/passwd\n',
  'v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\n',
  's=x\nc=IN IP4 127.0.0.1\n',
  '[playlist]\nFile1=/etc/passwd',
  '[Reference]\nRef1=http://127.0.0.1/',
];

describe('detection', () => {
  test.each(HEADS)('%s: %s', (_, detected, head) => {
    expect(detectFileType(head)).toBe(detected);
  });
  test.each(PLAYLISTS)('%j is a playlist, and fails under every name', (text) => {
    const detected = detectFileType(Buffer.from(text));
    expect(detected).toBe('playlist');
    for (const type of ALL) expect(checkFileType(type, detected)).toBe('playlist');
  });
  test('any bytes give a result, and bytes after the head are ignored', () => {
    const starts = fc.constantFrom(
      ...HEADS.map(([, , head]) => Buffer.from(head)),
      ...PLAYLISTS.map((text) => Buffer.from(text)),
      Buffer.alloc(0),
    );
    fc.assert(
      fc.property(starts, fc.uint8Array({ maxLength: 600 }), fc.nat(40), (start, tail, cut) => {
        expect(detectFileType(Buffer.concat([start.subarray(0, cut), tail]))).toBeTypeOf('string');
      }),
    );
    expect(detectFileType(Buffer.concat([Buffer.alloc(HEAD_BYTES, ' '), Buffer.from('#EXTM3U\n')]))).toBe(
      'unknown',
    );
  });
  test.each(['# ', '#\n', '# #EX\n', 'a=\n', '<', '<a', '<a:', '<!--', '\n '])(
    'a head full of %j is processed quickly',
    (text) => {
      expect(detectFileType(Buffer.from(text.repeat(HEAD_BYTES / text.length)))).toBe('unknown');
    },
  );
});

const ISOBMFF = ['video/mp4', 'video/quicktime', 'video/3gpp', 'video/3gpp2', 'audio/mp4'];
const WEBM = ['video/webm', 'video/x-matroska', 'video/matroska', 'audio/webm'];
const OGG = ['audio/ogg', 'video/ogg'];

const CLIPS: readonly (readonly [ClipOptions, readonly string[]])[] = [
  [{ container: 'mp4' }, ISOBMFF],
  [{ container: 'mov' }, ISOBMFF],
  [{ container: 'mp4', more: ['-movflags', '+frag_keyframe+empty_moov'] }, ISOBMFF],
  [{ container: 'webm' }, WEBM],
  [{ container: 'mkv' }, ['video/x-matroska', 'video/matroska']],
  [{ container: 'ts' }, ['video/mp2t']],
  [{ container: 'avi' }, ['video/x-msvideo']],
  [{ container: 'mpg' }, ['video/mpeg']],
  [{ container: 'flv' }, ['video/x-flv']],
  [{ container: 'wmv' }, ['video/x-ms-wmv', 'video/x-ms-asf']],
  [{ container: 'ogv' }, OGG],
  [{ container: 'mxf', fps: 25 }, ['application/mxf']],
  [{ container: 'ts', more: ['-mpegts_m2ts_mode', '1'] }, ['video/mp2t']],
];

const namesThatFit = (head: Uint8Array) =>
  ALL.filter((type) => checkFileType(type, detectFileType(head)) === 'ok').map((type) => type.mime);

describe('a declared type', () => {
  test.each(CLIPS)('%j checkFileType only %j', async (options, mimes) => {
    expect(namesThatFit(readFileSync(await makeClip(options)).subarray(0, HEAD_BYTES))).toEqual(mimes);
  });
  test('returns the failure code', () => {
    expect(checkFileType(findMediaType('image/png') as MediaType, 'jpeg')).toBe('type_mismatch');
    expect(checkFileType(findMediaType('video/webm') as MediaType, 'matroska')).toBe('type_mismatch');
    expect(checkFileType(findMediaType('video/mp4') as MediaType, 'unknown')).toBe('type_mismatch');
    expect(checkFileType(findMediaType('video/mp4') as MediaType, 'playlist')).toBe('playlist');
  });
});

const BY_EXTENSION: Record<string, readonly string[]> = {
  '.jpg': ['image/jpeg'],
  '.png': ['image/png'],
  '.gif': ['image/gif'],
  '.webp': ['image/webp'],
  '.avif': ['image/avif'],
  '.avifs': ['image/avif'],
  '.mp4': ISOBMFF,
  '.mov': ISOBMFF,
  '.3g2': ISOBMFF,
  '.heic': ['image/heic', 'image/heif'],
  '.heif': ['image/heic', 'image/heif'],
  '.webm': WEBM,
  '.mkv': ['video/x-matroska', 'video/matroska'],
  '.avi': ['video/x-msvideo'],
  '.flv': ['video/x-flv'],
  '.wmv': ['video/x-ms-wmv', 'video/x-ms-asf'],
  '.asf': ['video/x-ms-wmv', 'video/x-ms-asf'],
  '.mpg': ['video/mpeg'],
  '.ogv': OGG,
  '.ogg': OGG,
  '.oga': OGG,
  '.ogx': OGG,
  '.ogm': OGG,
  '.spx': OGG,
  '.opus': OGG,
  '.m4a': ISOBMFF,
  '.mp3': ['audio/mpeg'],
  '.mp2': ['audio/mpeg'],
  '.aac': ['audio/aac'],
  '.wav': ['audio/wav'],
  '.flac': ['audio/flac'],
};
const NOT_WHAT_THEY_ARE_CALLED = ['fixture-json.webp', 'fixture-corrupt.mkv', 'fixture.mpg'];

describe.skipIf(!TEST_DATA)('test data', () => {
  const root = TEST_DATA ?? '';
  test.each([
    'tiny-files',
    'file-type-fixtures',
    'video-samples',
    'video-bbb',
    'image-valid',
    'exif-orientation',
  ])('every file of %s fits its own types alone', (set) => {
    const files = globSync('**/*.*', { cwd: join(root, set), withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files.length).toBeGreaterThan(5);
    for (const { name, parentPath } of files) {
      const expected = NOT_WHAT_THEY_ARE_CALLED.includes(name) ? [] : (BY_EXTENSION[extname(name)] ?? []);
      expect([name, namesThatFit(readFileSync(join(parentPath, name)).subarray(0, HEAD_BYTES))]).toEqual([
        name,
        expected,
      ]);
    }
  });
  test('every manifest is a playlist', () => {
    const manifests = globSync('manifests/**/*.{m3u8,mpd}', { cwd: root })
      .map((path) => readFileSync(join(root, path)))
      .filter((bytes) => bytes.length > 0);
    expect(manifests.length).toBeGreaterThan(70);
    expect(new Set(manifests.map(detectFileType))).toEqual(new Set(['playlist']));
  });
});
