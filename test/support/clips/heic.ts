// HEIC images as phones write them (one HEVC frame or a grid), assembled by hand because ffmpeg cannot write
// the format.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ffmpegPath } from './clips.ts';

const run = promisify(execFile);

/** `width` and `height` are those of the coded picture; `turned` counts quarters, counter-clockwise. */
type HeicOptions = {
  readonly width: number;
  readonly height: number;
  readonly tiles?: 1 | 2;
  readonly turned?: 0 | 1 | 2 | 3;
  readonly profile?: Uint8Array;
  readonly colour?: string | undefined;
};

export async function makeHeic({
  width,
  height,
  tiles = 1,
  turned = 0,
  profile,
  colour,
}: HeicOptions): Promise<Buffer> {
  const tile = { width: width / tiles, height: height / tiles };
  const frames = await Promise.all(
    Array.from({ length: tiles * tiles }, () => hevcFrame({ ...tile, colour })),
  );
  const images = frames.map(({ sample }) => sample);
  const grid =
    tiles > 1 ? [Buffer.concat([Buffer.from([0, 0, tiles - 1, tiles - 1]), u16(width), u16(height)])] : [];
  const properties = [
    frames[0]?.config ?? Buffer.alloc(0),
    sizeBox(tile),
    sizeBox({ width, height }),
    box('irot', Buffer.from([turned])),
    ...(profile ? [box('colr', Buffer.from('prof'), profile)] : []),
  ];
  const meta = (at: number) => metaBox({ contents: [...images, ...grid], isGrid: tiles > 1, properties, at });
  const head = box('ftyp', Buffer.from('heic\0\0\0\0mif1heic'));
  const start = head.length + meta(0).length + 8;
  return Buffer.concat([head, meta(start), box('mdat', ...images, ...grid)]);
}

type Frame = { readonly config: Buffer; readonly sample: Buffer };

/** The decoder's configuration, and the coded picture, taken out of an MP4. */
async function hevcFrame({
  width,
  height,
  colour,
}: Pick<HeicOptions, 'width' | 'height' | 'colour'>): Promise<Frame> {
  const picture = `${colour ? `color=${colour}` : 'testsrc2'}${colour ? ':' : '='}size=${width}x${height}`;
  const args = [
    '-nostdin',
    '-hide_banner',
    '-loglevel',
    'error',
    '-f',
    'lavfi',
    '-i',
    picture,
    '-frames:v',
    '1',
    '-pix_fmt',
    'yuv420p',
    '-c:v',
    'libx265',
    '-preset',
    'ultrafast',
    '-x265-params',
    'log-level=none:info=0',
    '-tag:v',
    'hvc1',
    '-f',
    'mp4',
    '-movflags',
    'frag_keyframe+empty_moov',
    'pipe:1',
  ];
  const { stdout } = await run(ffmpegPath(), args, { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 });
  const config = boxAt(stdout, stdout.indexOf('hvcC') - 4);
  return { config, sample: boxAt(stdout, stdout.indexOf('mdat') - 4).subarray(8) };
}

const boxAt = (bytes: Buffer, at: number): Buffer => bytes.subarray(at, at + bytes.readUInt32BE(at));

type Meta = {
  readonly contents: readonly Buffer[];
  readonly isGrid: boolean;
  readonly properties: readonly Buffer[];
  readonly at: number;
};

/** Items are numbered from 1; the last is shown. */
function metaBox({ contents, isGrid, properties, at }: Meta): Buffer {
  const last = contents.length;
  const items = contents.map((_, n) =>
    full('infe', 2, u16(n + 1), u16(0), Buffer.from(isGrid && n + 1 === last ? 'grid\0' : 'hvc1\0')),
  );
  const tiles = isGrid
    ? [full('iref', 0, box('dimg', u16(last), u16(last - 1), ...contents.slice(1).map((_, n) => u16(n + 1))))]
    : [];
  const shown = properties.slice(2).map((_, n) => n + 3);
  const used = contents.map((_, n) =>
    associations(n + 1, n + 1 === last ? [...(isGrid ? [] : [1]), ...shown] : [1, 2]),
  );
  return full(
    'meta',
    0,
    full('hdlr', 0, u32(0), Buffer.from('pict'), Buffer.alloc(13)),
    full('pitm', 0, u16(last)),
    full('iinf', 0, u16(last), ...items),
    ...tiles,
    box('iprp', box('ipco', ...properties), full('ipma', 0, u32(last), ...used)),
    full('iloc', 0, Buffer.from([0x44, 0]), u16(last), ...places(contents, at)),
  );
}

const associations = (item: number, properties: readonly number[]) =>
  Buffer.concat([u16(item), Buffer.from([properties.length, ...properties.map((one) => one | 0x80)])]);

function places(contents: readonly Buffer[], start: number): Buffer[] {
  let at = start;
  return contents.map(({ length }, n) => {
    const place = Buffer.concat([u16(n + 1), u16(0), u16(1), u32(at), u32(length)]);
    at += length;
    return place;
  });
}

const sizeBox = ({ width, height }: { width: number; height: number }) =>
  full('ispe', 0, u32(width), u32(height));
const full = (type: string, version: number, ...parts: readonly Buffer[]) =>
  box(type, Buffer.from([version, 0, 0, 0]), ...parts);

function box(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(content.length + 8), Buffer.from(type), content]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
