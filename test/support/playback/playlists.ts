// Playlists and manifests, named like videos, that make ffmpeg open other files or URLs.
import { readFile } from 'node:fs/promises';
import { makeClip } from '../clips/clips.ts';

/** Their targets: a file that must not be read, and an address that must not be called. */
export type Targets = { readonly file: string; readonly address: string };
/** `end`: failure code, or `ready` where there is a film of its own to play. */
export type Form = {
  readonly what: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
  readonly end: string;
};

const hls = (segment: string, tags = '') =>
  '#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:10\n#EXT-X-MEDIA-SEQUENCE:0\n' +
  `${tags}#EXTINF:10.0,\n${segment}\n#EXT-X-ENDLIST\n`;

/** The plainest of them, for engines without any guard. */
export const plainPlaylist = ({ address }: Targets): string => hls(`${address}/segment.ts`);

function texts({ file, address }: Targets): Readonly<Record<string, string>> {
  const master = `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\n${address}/low.m3u8\n`;
  const mpd =
    '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2S"><Period>' +
    '<AdaptationSet mimeType="video/mp4"><Representation id="a" bandwidth="1">' +
    `<BaseURL>${address}/a.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>`;
  return {
    'an HLS playlist of a file': hls(`file://${file}`),
    'an HLS playlist of an address': hls(`${address}/segment.ts`),
    'an HLS master playlist': master,
    'an HLS playlist of a path that climbs': hls(`${'../'.repeat(20)}${file.slice(1)}`),
    'an HLS playlist with its key elsewhere': hls(
      'data:video/mp2t;base64,R0dHRw==',
      `#EXT-X-KEY:METHOD=AES-128,URI="${address}/key"\n`,
    ),
    'an HLS playlist with its head elsewhere': hls('segment.m4s', `#EXT-X-MAP:URI="file://${file}"\n`),
    'an HLS playlist that sends a file to an address': hls(`concat:${address}/?|file://${file}`),
    'an HLS playlist of a part of a file': hls(`subfile,,start,0,end,64,,:${file}`),
    'an HLS playlist of a ciphered address': hls(`crypto+${address}/segment.ts`),
    'an HLS playlist within a playlist':
      '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n' +
      `data:application/x-mpegurl;base64,${Buffer.from(hls(`file://${file}`)).toString('base64')}\n`,
    'an HLS playlist behind a byte order mark': `\ufeff${master}`,
    'an HLS playlist behind blank lines': `\r\n \t\n\n  ${hls(`${address}/segment.ts`)}`,
    'a concat script of a file': `ffconcat version 1.0\nfile '${file}'\n`,
    'a concat script of an address':
      `ffconcat version 1.0\nfile '${address}/a.ts'\n` +
      'option protocol_whitelist file,http,tcp\nduration 2\n',
    [UNTOLD]: `file '${file}'\nfile '${address}/a.ts'\n`,
    'a DASH manifest': mpd,
    'a DASH manifest with an entity of a file': [
      '<?xml version="1.0"?>',
      `<!DOCTYPE MPD [<!ENTITY e SYSTEM "file://${file}">]>`,
      `<!-- &e; -->${mpd}`,
    ].join('\n'),
    'a SMIL presentation':
      `<smil><body><video src="${address}/a.mp4"/>` + `<video src="file://${file}"/></body></smil>`,
    'a session description':
      `v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=a\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n` +
      `m=video ${new URL(address).port} RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n`,
  };
}

async function containers(targets: Targets): Promise<Form[]> {
  const film = await readFile(await makeClip({ seconds: 1, width: 64, height: 64, audio: false }));
  const old = await readFile(
    await makeClip({ seconds: 1, width: 64, height: 64, audio: false, container: 'mov' }),
  );
  const text = Buffer.from(plainPlaylist(targets));
  const head = box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2avc1mp41', 'latin1'));
  const reference = box('url ', Buffer.from(`\0\0\0\0file://${targets.file}\0`));
  const mp4 = { mime: 'video/mp4', end: 'not_media' };
  return [
    {
      ...mp4,
      what: 'an MP4 that ends in a playlist',
      bytes: Buffer.concat([film, box('free', text)]),
      end: 'ready',
    },
    { ...mp4, what: 'an MP4 head with nothing but a playlist behind it', bytes: Buffer.concat([head, text]) },
    {
      ...mp4,
      what: 'a playlist whose first line could be a box',
      bytes: Buffer.concat([Buffer.from('#EXTmoov\n'), text]),
    },
    {
      ...mp4,
      what: 'an MP4 that says of its samples that they are in a file',
      bytes: withReference(film, reference),
      end: 'ready',
    },
    {
      mime: 'video/quicktime',
      what: 'a QuickTime film with its samples in a file',
      bytes: withReference(old, alias(targets.file)),
      end: 'not_media',
    },
    { mime: 'video/mp2t', what: 'transport packets of a playlist', bytes: packets(text), end: 'not_media' },
  ];
}

const MIMES = ['video/mp4', 'video/mp4', 'video/quicktime', 'video/mp2t'];

export const formsOf = async (targets: Targets): Promise<Form[]> => [
  ...Object.entries(texts(targets)).map(([what, text], index) => ({
    what,
    mime: MIMES[index % MIMES.length] as string,
    bytes: Buffer.from(text),
    end: what === UNTOLD ? 'type_mismatch' : 'playlist',
  })),
  ...(await containers(targets)),
];

/** It could be any text. */
const UNTOLD = 'a concat script without its first line';

function box(type: string, content: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}

/**
 * The film with this as its only data reference, which says in which file the samples lie; nothing lies
 * behind its index, so that no offset moves.
 */
function withReference(film: Buffer, reference: Buffer): Buffer {
  const at = film.indexOf('dref') - 4;
  const end = at + film.readUInt32BE(at);
  const made = box('dref', Buffer.concat([film.subarray(at + 8, at + 16), reference]));
  const bytes = Buffer.concat([film.subarray(0, at), made, film.subarray(end)]);
  for (const parent of ['moov', 'trak', 'mdia', 'minf', 'dinf']) {
    const start = film.lastIndexOf(parent, at) - 4;
    bytes.writeUInt32BE(film.readUInt32BE(start) + made.length - (end - at), start);
  }
  return bytes;
}

/**
 * A Macintosh alias: a fixed part, then numbered texts: 2 is the whole path, its volume in front.
 */
function alias(file: string): Buffer {
  const fixed = Buffer.alloc(4 + 150);
  fixed.write('\x01v', 4 + 10, 'latin1');
  fixed.write('\x01a', 4 + 50, 'latin1');
  const path = Buffer.from(
    `v${file.replaceAll('/', ':')}`.padEnd(2 * Math.ceil((file.length + 1) / 2), '\0'),
  );
  const tail = Buffer.alloc(8);
  tail.writeUInt16BE(2, 0);
  tail.writeUInt16BE(path.length, 2);
  tail.writeUInt32BE(0xffff0000, 4);
  return box('alis', Buffer.concat([fixed, tail.subarray(0, 4), path, tail.subarray(4)]));
}

const packets = (text: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: 20 }, () => Buffer.concat([Buffer.from('G'), text], 188)));
