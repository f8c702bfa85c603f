// A real Chromium whose pages play streams with stock players; the pages come from another origin than the
// service.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Player → its script as the npm package ships it for pages. */
const PLAYER_SCRIPTS = {
  'hls.js': 'hls.js/dist/hls.min.js',
  'dash.js': 'dashjs/dist/modern/umd/dash.all.min.js',
  'shaka-player': 'shaka-player/dist/shaka-player.compiled.js',
} as const;
type PlayerName = keyof typeof PLAYER_SCRIPTS;

export type PlayRequest = {
  readonly player: PlayerName;
  readonly url: string;
  /** The page asks the player for PQ. */
  readonly prefersHdr?: boolean;
};
/**
 * Seconds on the clock of the video; `errors` is empty when the stream played as a viewer expects, and
 * `startedAt` is undefined when nothing was played.
 */
type PlayResult = {
  readonly errors: readonly string[];
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly duration: number;
  readonly width: number;
  readonly height: number;
  /** The numbers of the tracks whose segments were requested, lowest first. */
  readonly tracks: readonly number[];
};

/** The video starts with `tone` hertz, and has `languageTone` once `language` is selected. */
export type AudioSwitch = PlayRequest & {
  readonly tone: number;
  readonly language: string;
  readonly languageTone: number;
};
type AudioSwitchResult = {
  readonly errors: readonly string[];
  readonly tracks: readonly { readonly language: string; readonly name: string }[];
};
export type ShownCaptions = {
  readonly errors: readonly string[];
  readonly cue?: { readonly startTime: number; readonly endTime: number; readonly text: string };
};

export type TestBrowser = {
  /** Plays to the end, again from the start, from the middle, and to the end once more. */
  playThrough(request: PlayRequest): Promise<PlayResult>;
  /** Plays to the end once, from where the player starts. */
  playEarly(request: PlayRequest): Promise<PlayResult>;
  /** Listens to the video, selects another language and listens again. */
  switchAudio(request: AudioSwitch): Promise<AudioSwitchResult>;
  /** Shows the captions and plays until there is a cue. */
  showCaptions(request: PlayRequest): Promise<ShownCaptions>;
  close(): Promise<void>;
};

const NODE_MODULES = join(import.meta.dirname, '../../node_modules');
const PAGE_SCRIPT = join(import.meta.dirname, 'player-page.js');
const PLAYBACK_RATE = 2;
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
  return {
    playThrough: (request) => runOnPage(browser, `http://127.0.0.1:${port}`, { run: 'playThrough', request }),
    playEarly: (request) => runOnPage(browser, `http://127.0.0.1:${port}`, { run: 'playEarly', request }),
    switchAudio: (request) => runOnPage(browser, `http://127.0.0.1:${port}`, { run: 'switchAudio', request }),
    showCaptions: (request) =>
      runOnPage(browser, `http://127.0.0.1:${port}`, { run: 'showCaptions', request }),
    close: async () => {
      await browser.close();
      pages.close();
    },
  };
}

type PageCall = { readonly run: string; readonly request: PlayRequest };

/** Each stream gets a context of its own, so that no cache or storage is shared. */
async function runOnPage<T>(browser: Browser, origin: string, { run, request }: PageCall): Promise<T> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${origin}/${request.player}`);
    const order = JSON.stringify({ ...request, rate: PLAYBACK_RATE });
    return await page.evaluate<T>(`${run}(${order})`);
  } finally {
    await context.close();
  }
}

async function servePlayerPages(): Promise<Server> {
  const files = new Map([['/page-script', PAGE_SCRIPT]]);
  for (const [player, script] of Object.entries(PLAYER_SCRIPTS))
    files.set(`/script/${player}`, join(NODE_MODULES, script));
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
<script src="/script/${player}"></script><script src="/page-script"></script>`;
