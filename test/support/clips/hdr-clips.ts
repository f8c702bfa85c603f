// Clips in HDR, and what ffmpeg tells about the colours of a video.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type ClipOptions, ffmpegPath, makeClip } from './clips.ts';
import { type Colour, MATRICES, paintStripes } from './stripes.ts';

/** Names in ffmpeg. */
const TRANSFERS = { pq: 'smpte2084', hlg: 'arib-std-b67' } as const;

/** A display with the primaries of P3, in the units of x265. */
export const MASTERING_DISPLAY = 'G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(40000000,50)';

export const HDR_CODING = { matrix: MATRICES.bt2020nc, bits: 10 } as const;

type HdrClip = ClipOptions & {
  readonly range: keyof typeof TRANSFERS;
  /** Replace the test picture. */
  readonly stripes?: readonly Colour[];
  /** Further parameters of x265. */
  readonly x265?: readonly string[];
  readonly primaries?: string;
  readonly format?: string;
};

/** HEVC, without loss where stripes are painted. */
export function makeHdrClip({
  range,
  stripes,
  x265 = [],
  primaries = 'bt2020',
  format = 'yuv420p10le',
  ...clip
}: HdrClip): Promise<string> {
  const parameters = ['log-level=error', ...(stripes ? ['lossless=1'] : []), ...x265].join(':');
  return makeClip({
    ...clip,
    more: [
      ...['-c:v', 'libx265', '-preset', 'ultrafast', '-tag:v', 'hvc1', '-x265-params', parameters],
      ...['-pix_fmt', format, ...(stripes ? ['-vf', paintStripes(stripes, HDR_CODING)] : [])],
      ...['-color_primaries', primaries, '-color_trc', TRANSFERS[range], '-colorspace', 'bt2020nc'],
    ],
  });
}

/** Describes the first frame: format, range, matrix, primaries, transfer, then the metadata of displays. */
export async function describeColours(url: string): Promise<readonly string[]> {
  const { stderr } = await promisify(execFile)(ffmpegPath(), [
    ...['-nostdin', '-hide_banner', '-i', url, '-map', '0:v:0', '-frames:v', '1'],
    ...['-vf', 'showinfo=checksum=0', '-f', 'null', '-'],
  ]);
  const [, format = ''] = /n: +0 .* fmt:(\S+)/.exec(stderr) ?? [];
  const [, ...tags] =
    /color_range:(\S+) color_space:(\S+) color_primaries:(\S+) color_trc:(\S+)/.exec(stderr) ?? [];
  const metadata = [
    ...stderr.matchAll(/side data - (?:mastering display|content light).*?(has_.*|MaxCLL.*)/gi),
  ];
  return [[format, ...tags].join(' '), ...metadata.map(([, values = '']) => values)];
}
