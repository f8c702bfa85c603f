// The files of the demo library, made by ffmpeg.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { DemoAsset, DemoRecipe } from './demo-library.ts';

/** `index` makes each file another one. */
export async function createDemoFile(ffmpeg: string, asset: DemoAsset, index: number): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-demo-'));
  const file = join(folder, `file${extname(asset.filename)}`);
  try {
    const drawing = DRAWERS[asset.kind](asset.recipe, index);
    await promisify(execFile)(ffmpeg, ['-nostdin', '-y', '-loglevel', 'error', ...drawing, file]);
    const bytes = await readFile(file);
    // Half of a file: the picture has no end, the video no index.
    return asset.recipe.startsWith('broken') ? bytes.subarray(0, bytes.length / 2) : bytes;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Top and bottom of the sky. */
const SKIES = [
  ['0x274472', '0xffb36b'],
  ['0x5b86c4', '0xf6d6c1'],
  ['0x345b8c', '0xcfe3ee'],
  ['0x7a4b8f', '0xffc4a3'],
  ['0x2f6f8f', '0xe9f2d0'],
] as const;
const NIGHT = ['0x050a1e', '0x24466b'] as const;

/** Two ranges of hills and a sun or moon. */
function drawHills(index: number, isNight: boolean): string {
  const far = `gt(Y\\,H*(0.58+0.07*sin(X/W*6+${index})+0.02*sin(X/W*21+${index * 2})))`;
  const near = `gt(Y\\,H*(0.76+0.06*sin(X/W*4+${index * 3})+0.015*sin(X/W*33+${index})))`;
  const light = `lt(hypot(X-W*${0.2 + ((index * 37) % 60) / 100}\\,Y-H*0.3)\\,H*0.06)`;
  const shade = (channel: string, shine: number): string => {
    const sky = `${channel}(X\\,Y)`;
    const behind = `if(${light}\\,${shine}\\,${sky})`;
    return `${channel}='if(${near}\\,${sky}*0.25\\,if(${far}\\,${sky}*0.55\\,${behind}))'`;
  };
  const [red, green, blue] = isNight ? [250, 245, 225] : [250, 214, 150];
  return `format=gbrp,geq=${shade('r', red)}:${shade('g', green)}:${shade('b', blue)}`;
}

function drawPicture(recipe: DemoRecipe, index: number): string[] {
  if (recipe === 'fractal') {
    const source = `mandelbrot=size=1200x1600:start_scale=${0.02 + (index % 5) * 0.01}`;
    return ['-f', 'lavfi', '-i', `${source},hue=h=${index * 47}`, '-frames:v', '1'];
  }
  const isNight = recipe === 'night';
  const [top, bottom] = isNight ? NIGHT : (SKIES[index % SKIES.length] ?? NIGHT);
  const sky = `gradients=size=720x480:c0=${top}:c1=${bottom}:x0=0:y0=0:x1=0:y1=350:nb_colors=2:speed=0.00001`;
  return [
    '-f',
    'lavfi',
    '-i',
    `${sky},${drawHills(index, isNight)},scale=1440:960`,
    '-frames:v',
    '1',
    '-q:v',
    '3',
  ];
}

const SOURCES: Readonly<Partial<Record<DemoRecipe, string>>> = {
  counter: 'testsrc2=size=1280x720:rate=25',
  colours: 'gradients=size=1280x720:rate=25:speed=0.02:nb_colors=4',
  fractal: 'mandelbrot=size=1280x720:rate=25',
  life: 'life=size=320x180:rate=25:mold=10:ratio=0.3:death_color=0x2a6f97,scale=1280:720:flags=neighbor',
  portrait: 'gradients=size=608x1080:rate=25:speed=0.03:nb_colors=5',
};

function drawVideo(recipe: DemoRecipe, index: number): string[] {
  const sound = ['-f', 'lavfi', '-i', `sine=frequency=${220 + index * 20}:sample_rate=48000,volume=0.2`];
  const length = ['-t', String(5 + (index % 4))];
  if (recipe === 'sound alone') return [...sound, ...length, '-c:a', 'aac'];
  const source = SOURCES[recipe] ?? 'testsrc2=size=1280x720:rate=25';
  return [
    ...['-f', 'lavfi', '-i', source],
    ...sound,
    ...length,
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-c:a', 'aac'],
  ];
}

/** Noise that swells and fades like speech; a podcast has a cover. */
function drawSound(recipe: DemoRecipe, index: number): string[] {
  const speech = `anoisesrc=color=pink:sample_rate=48000:seed=${index},tremolo=f=3:d=0.8,tremolo=f=0.2:d=0.7`;
  const sound = ['-f', 'lavfi', '-i', speech];
  if (recipe === 'voice') return [...sound, '-t', '9'];
  return [
    ...sound,
    ...['-f', 'lavfi', '-i', 'mandelbrot=size=900x900:rate=1:start_scale=0.02,hue=h=200,trim=end_frame=1'],
    ...[
      '-t',
      '30',
      '-map',
      '0',
      '-map',
      '1',
      '-c:a',
      'aac',
      '-c:v',
      'mjpeg',
      '-disposition:v',
      'attached_pic',
    ],
  ];
}

const DRAWERS: Readonly<Record<DemoAsset['kind'], (recipe: DemoRecipe, index: number) => string[]>> = {
  image: drawPicture,
  video: drawVideo,
  audio: drawSound,
};
