// Runs one video in the player: finds its source, creates the media element, renews tokens, recovers.
import { createHlsMedia, createNativeMedia, type PlayerMedia, playsHlsNatively } from './media.ts';
import { PlayerError, toPlayerError } from './player-error.ts';
import { findSource, type PlayerSource, type SourceRequest } from './source.ts';
import { isAccessToken, renewalDelay, SHORTEST_RENEWAL_MS, withTokenOf } from './token.ts';

/** `finding` URLs → `waiting` until something plays → `idle` until play → `loading` → `ready`. */
export type PlaybackView = {
  readonly phase: 'finding' | 'waiting' | 'idle' | 'loading' | 'ready' | 'failed';
  readonly source: PlayerSource | undefined;
  readonly media: HTMLVideoElement | undefined;
  readonly failure: PlayerError | undefined;
};

export const FIRST_VIEW: PlaybackView = {
  phase: 'finding',
  source: undefined,
  media: undefined,
  failure: undefined,
};

export type TokenProvider = () => Promise<string>;

type PlaybackOptions = {
  readonly request: Omit<SourceRequest, 'token' | 'signal' | 'onWaiting'>;
  readonly token: string | undefined;
  readonly tokenProvider: TokenProvider | undefined;
  /** Whether it loads before the viewer presses play. */
  readonly startsAtOnce: (source: PlayerSource) => boolean;
  readonly autoplay: boolean;
  /** Sets the attributes of the element before it loads. */
  readonly prepare: (element: HTMLVideoElement, source: PlayerSource) => void;
  readonly onChange: (view: PlaybackView) => void;
};

export type Playback = {
  play(): Promise<void>;
  /** Loads again after a failure, and continues at the same time of the video. */
  retry(): Promise<void>;
  close(): void;
};

type PlaybackRun = {
  readonly options: PlaybackOptions;
  readonly signal: AbortSignal;
  view: PlaybackView;
  token: string | undefined;
  finding: Promise<PlayerSource>;
  starting: Promise<PlayerMedia> | undefined;
  media: PlayerMedia | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** While a token is being renewed. */
  renewing: Promise<void> | undefined;
  renewedAt: number;
};

export function openPlayback(options: PlaybackOptions): Playback {
  const closing = new AbortController();
  const run: PlaybackRun = {
    options,
    signal: closing.signal,
    view: FIRST_VIEW,
    token: options.token,
    finding: Promise.reject(new PlayerError('NO_SOURCE')),
    starting: undefined,
    media: undefined,
    timer: undefined,
    renewing: undefined,
    renewedAt: Number.NEGATIVE_INFINITY,
  };
  run.finding.catch(() => undefined);
  const handle = (work: Promise<unknown>): Promise<void> =>
    work.then(
      () => undefined,
      (error: unknown) => fail(run, error),
    );
  run.finding = find(run);
  void handle(begin(run));
  return {
    play: () => handle(play(run)),
    retry: () => handle(retry(run)),
    close: () => {
      closing.abort();
      clearTimeout(run.timer);
      run.media?.element.removeAttribute('src');
      run.media?.element.remove();
    },
  };
}

function show(run: PlaybackRun, changes: Partial<PlaybackView>): void {
  run.view = { ...run.view, ...changes };
  if (!run.signal.aborted) run.options.onChange(run.view);
}

function fail(run: PlaybackRun, error: unknown): void {
  run.media?.element.pause();
  show(run, { phase: 'failed', failure: toPlayerError(error) });
}

/** With an access token alone, the service gives new playback URLs until that token ends. */
const canRenew = ({ options, token }: PlaybackRun): boolean =>
  options.tokenProvider !== undefined || (token !== undefined && isAccessToken(token));

async function find(run: PlaybackRun): Promise<PlayerSource> {
  const { options, signal } = run;
  if (run.token === undefined) run.token = await options.tokenProvider?.();
  const onWaiting = (): void => show(run, { phase: 'waiting' });
  const source = await findSource({ ...options.request, token: run.token, signal, onWaiting });
  signal.throwIfAborted();
  clearTimeout(run.timer);
  const delay = source.expiresAt === undefined ? undefined : renewalDelay(source.expiresAt, Date.now());
  if (delay !== undefined && canRenew(run)) {
    // A failure shows when the service refuses the old token.
    const renewInTime = () => void renew(run).catch(() => undefined);
    run.timer = setTimeout(renewInTime, delay);
  }
  show(run, { source });
  return source;
}

async function begin(run: PlaybackRun): Promise<void> {
  const source = await run.finding;
  // Safari lets an element play only within the click, so that it has to exist before.
  const startsNow = run.options.startsAtOnce(source) || playsHlsNatively();
  if (run.options.autoplay) await play(run);
  else if (startsNow) await start(run);
  else if (!run.starting) show(run, { phase: 'idle' });
}

function start(run: PlaybackRun): Promise<PlayerMedia> {
  run.starting ??= startMedia(run);
  return run.starting;
}

async function startMedia(run: PlaybackRun): Promise<PlayerMedia> {
  const source = await run.finding;
  show(run, { phase: 'loading' });
  const mediaOptions = {
    currentUrl: () => run.view.source?.hls ?? source.hls,
    onError: (error: PlayerError, isFatal: boolean): void =>
      void recover(run, error).catch((failure) => isFatal && fail(run, failure)),
  };
  const media = playsHlsNatively() ? createNativeMedia(mediaOptions) : await createHlsMedia(mediaOptions);
  run.signal.throwIfAborted();
  run.media = media;
  run.options.prepare(media.element, source);
  show(run, { media: media.element });
  await media.open(source.hls);
  // The manifest may have failed meanwhile.
  if (!run.view.failure) show(run, { phase: 'ready' });
  return media;
}

/** Rejected when the browser forbids sound before a click, or another source is opened meanwhile. */
async function play(run: PlaybackRun): Promise<void> {
  const { element } = run.media ?? (await start(run));
  await element.play().catch((error: unknown) => {
    const isExpected = error instanceof DOMException && /^(?:NotAllowed|Abort)Error$/.test(error.name);
    if (!isExpected) throw error;
  });
}

async function retry(run: PlaybackRun): Promise<void> {
  show(run, { phase: 'loading', failure: undefined });
  if (run.options.tokenProvider) run.token = undefined;
  run.finding = find(run);
  await run.finding;
  if (run.media) await reopen(run, run.media);
  else run.starting = undefined;
  await play(run);
}

function renew(run: PlaybackRun): Promise<void> {
  run.renewing ??= renewSource(run).finally(() => {
    run.renewing = undefined;
  });
  return run.renewing;
}

async function renewSource(run: PlaybackRun): Promise<void> {
  run.renewedAt = Date.now();
  const { media, view, options } = run;
  if (options.tokenProvider) run.token = undefined;
  const before = view.source?.hls;
  const { hls } = await find(run);
  const isFollowed = before !== undefined && media?.followsToken && withTokenOf(hls, before) === hls;
  if (!media || before === hls || isFollowed) return;
  const wasPlaying = !media.element.paused;
  await reopen(run, media);
  if (wasPlaying) await play(run);
}

async function reopen(run: PlaybackRun, { element, open }: PlayerMedia): Promise<void> {
  const { currentTime } = element;
  element.addEventListener('loadedmetadata', () => Object.assign(element, { currentTime }), { once: true });
  await open(run.view.source?.hls ?? '');
  show(run, { phase: 'ready', failure: undefined });
}

async function recover(run: PlaybackRun, error: PlayerError): Promise<void> {
  const { media, view } = run;
  const hasEnded = (view.source?.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now();
  const isLate = error.code === 'TOKEN_EXPIRED' || hasEnded;
  const isRecent = run.renewing === undefined && Date.now() - run.renewedAt < SHORTEST_RENEWAL_MS;
  if (!media || !isLate || !canRenew(run) || isRecent) throw error;
  await renew(run);
  if (!media.continueLoading()) await reopen(run, media);
}
