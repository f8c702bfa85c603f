// A real Chromium whose pages play streams with stock players; the pages come from another origin than the
// service.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Rgb } from '../clips/corners.ts';

/** Player → its script as the npm package ships it for pages. */
const PLAYER_SCRIPTS = {
  'hls.js': 'hls.js/dist/hls.min.js',
  'dash.js': 'dashjs/dist/modern/umd/dash.all.min.js',
  'shaka-player': 'shaka-player/dist/shaka-player.compiled.js',
} as const;
type PlayerName = keyof typeof PLAYER_SCRIPTS;

/** Of a page that loads, and of all that a test does with it. */
const TIMEOUT_MS = 120_000;

export type PlayRequest = {
  /** `none`: Chromium itself plays the file. */
  readonly player: PlayerName | 'none';
  readonly url: string;
  /** The page asks the player for PQ. */
  readonly prefersHdr?: boolean;
  /** The player buffers about so much in advance. */
  readonly bufferSeconds?: number;
};
/** `awaitedHeight`: the video plays slowly until the player knows this rendition, then moves to it. */
export type EarlyPlayRequest = PlayRequest & { readonly awaitedHeight?: number };
/** Of the player and the video; empty when the stream played as a viewer expects. */
type PageResult = { readonly errors: readonly string[] };
/** Seconds on the clock of the video; `startedAt` is undefined when nothing was played. */
type PlayResult = PageResult & {
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly duration: number;
  readonly width: number;
  readonly height: number;
  /** The numbers of the tracks whose segments were requested, lowest first. */
  readonly tracks: readonly number[];
};
/** Pauses, seeks and jumps that no viewer asked for. */
type EarlyPlayResult = PlayResult & { readonly interruptions: readonly string[] };

/** `heights`: those of the renditions; `shown`: those of the picture after each switch. */
type SwitchResult = PlayResult & {
  readonly heights: readonly number[];
  readonly shown: readonly number[];
  /** The picture at five seconds, of players that know storyboards: its sprite and its place in it. */
  readonly thumbnail?: Readonly<Record<'x' | 'y' | 'width' | 'height', number>> & { readonly sprite: string };
};

/** The video starts with `tone` hertz, and has `languageTone` once `language` is selected. */
export type AudioSwitch = PlayRequest & {
  readonly tone: number;
  readonly language: string;
  readonly languageTone: number;
};
type AudioSwitchResult = PageResult & {
  readonly tracks: readonly { readonly language: string; readonly name: string }[];
};
export type ShownCaptions = PageResult & {
  readonly cue?: { readonly startTime: number; readonly endTime: number; readonly text: string };
};
type CornersResult = PageResult & {
  readonly corners: readonly Rgb[];
  readonly width: number;
  readonly height: number;
};
type SyncResult = PageResult & { readonly flashes: readonly number[]; readonly beeps: readonly number[] };

export type TestBrowser = {
  /** Plays to the end, again from the start, from the middle, and to the end once more. */
  playThrough(request: PlayRequest): Promise<PlayResult>;
  /** Plays to the end once, from where the player starts; slowly until `slowUntil` resolves. */
  playEarly(request: EarlyPlayRequest, slowUntil?: Promise<unknown>): Promise<EarlyPlayResult>;
  /** Plays the lowest rendition alone, the highest, and the lowest again; then to the end. */
  switchRenditions(request: PlayRequest): Promise<SwitchResult>;
  /** Listens to the video, selects another language and listens again. */
  switchAudio(request: AudioSwitch): Promise<AudioSwitchResult>;
  /** Shows the captions and plays until there is a cue. */
  showCaptions(request: PlayRequest): Promise<ShownCaptions>;
  /** Top left, top right, bottom left and bottom right of the first frame. */
  readCorners(request: PlayRequest): Promise<CornersResult>;
  /** Plays to the end; the media times of flashes, and of beeps, each of them many times. */
  recordFlashesAndBeeps(request: PlayRequest): Promise<SyncResult>;
  close(): Promise<void>;
};

const NODE_MODULES = join(import.meta.dirname, '../../../node_modules');
const PAGE_SCRIPTS = join(import.meta.dirname, 'player-page');
const PLAYBACK_RATE = 2;
/** The clock of Chromium jumps when a lower rate ends. */
const SLOW_RATE = 0.25;
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const ARGUMENTS = [
  '--headless=new',
  '--no-sandbox', // Chromium has no sandbox for root, which CI runs as.
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--autoplay-policy=no-user-gesture-required',
];

/** CHROMIUM_PATH, else where distributions install it. */
export const findChromium = (): string | undefined =>
  process.env['CHROMIUM_PATH'] ?? PLACES.find((path) => existsSync(path));

function chromiumPath(): string {
  const path = findChromium();
  if (path) return path;
  throw new Error(
    'The browser tests need Chromium. Install it (Debian: apt-get install chromium) or set CHROMIUM_PATH.',
  );
}

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath(), args: ARGUMENTS });

export async function openBrowser(): Promise<TestBrowser> {
  const pages = await servePlayerPages();
  const browser = await launchChromium();
  const { port } = pages.address() as AddressInfo;
  const run =
    <Request extends PlayRequest, Result>(name: string) =>
    (request: Request): Promise<Result> =>
      onPage(browser, `http://127.0.0.1:${port}/${request.player}`, (page) =>
        page.evaluate<Result>(callOf(name, { rate: PLAYBACK_RATE, ...request })),
      );
  return {
    playThrough: run('playThrough'),
    switchRenditions: run('switchRenditions'),
    switchAudio: run('switchAudio'),
    showCaptions: run('showCaptions'),
    readCorners: run('readCorners'),
    recordFlashesAndBeeps: run('recordFlashesAndBeeps'),
    playEarly: (request, slowUntil) =>
      onPage(browser, `http://127.0.0.1:${port}/${request.player}`, async (page) => {
        const rate = slowUntil || request.awaitedHeight ? SLOW_RATE : PLAYBACK_RATE;
        const options = { rate, rateThen: PLAYBACK_RATE, ...request };
        const played = page.evaluate<EarlyPlayResult>(callOf('playEarly', options));
        const hastened = slowUntil?.then(() => page.evaluate(callOf('setRate', PLAYBACK_RATE)));
        const [result] = await Promise.all([played, hastened]);
        return result;
      }),
    close: async () => {
      await browser.close();
      pages.close();
    },
  };
}

const callOf = (name: string, argument: unknown): string => `${name}(${JSON.stringify(argument)})`;

/** Each stream gets a context of its own, so that no cache or storage is shared. */
async function onPage<T>(browser: Browser, url: string, use: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    await page.goto(url);
    return await use(page);
  } finally {
    await context.close();
  }
}

async function servePlayerPages(): Promise<Server> {
  const files = new Map(
    Object.entries(PLAYER_SCRIPTS).map(([player, script]) => [
      `/player/${player}`,
      join(NODE_MODULES, script),
    ]),
  );
  for (const name of await readdir(PAGE_SCRIPTS)) files.set(`/script/${name}`, join(PAGE_SCRIPTS, name));
  const server = createServer(async ({ url = '' }, response) => {
    const file = files.get(url);
    response.setHeader('content-type', file ? 'text/javascript' : 'text/html');
    response.end(file ? await readFile(file) : htmlOf(url.slice(1)));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

const htmlOf = (player: string): string =>
  `<!doctype html><link rel="icon" href="data:,"><video playsinline></video>
${player in PLAYER_SCRIPTS ? `<script src="/player/${player}"></script>` : ''}
<script type="module" src="/script/main.js"></script>`;
