// Creates the media element: the browser's own where it plays HLS best, else one with hls.js.
import type { ErrorData } from 'hls.js';
import { constructStyles } from './constructed-styles.ts';
import { followLaterRenditions, type RenditionMenu } from './later-renditions.ts';
import { codeOfStatus, PlayerError } from './player-error.ts';
import { withTokenOf } from './token.ts';

/** Safari plays HLS best by itself. Other browsers with `MediaSource` get hls.js. */
export function playsHlsNatively(): boolean {
  const canPlay = document.createElement('video').canPlayType('application/vnd.apple.mpegurl') !== '';
  return canPlay && ('WebKitPlaybackTargetAvailabilityEvent' in window || !('MediaSource' in window));
}

export type PlayerMedia = {
  readonly element: HTMLVideoElement;
  /** Loads the manifest; resolves when `play` may be called. */
  open(url: string): Promise<void>;
  /** Continues to load after an error, if the element can; else `open` has to be called again. */
  continueLoading(): boolean;
  /** The element takes each file with the current token. */
  readonly followsToken: boolean;
};

type MediaOptions = {
  /** The URL with the current token. */
  readonly currentUrl: () => string;
  /** `isFatal`: playback ends with what is buffered. */
  readonly onError: (error: PlayerError, isFatal: boolean) => void;
};

export function createNativeMedia({ onError }: MediaOptions): PlayerMedia {
  const element = document.createElement('video');
  element.addEventListener('error', () => {
    const isBroken = element.error?.code === MediaError.MEDIA_ERR_DECODE;
    onError(new PlayerError(isBroken ? 'MEDIA_BROKEN' : 'CONNECTION_FAILED', element.error), true);
  });
  const open = async (url: string): Promise<void> => {
    element.src = url;
  };
  return { element, open, continueLoading: () => false, followsToken: false };
}

/** A page may have another version of `<hls-video>`. */
const HLS_TAG = 'mediary-hls-video';

type HlsModule = typeof import('hls-video-element');
type Hls = InstanceType<HlsModule['Hls']>;

/** hls.js is a chunk of its own, which is loaded here. */
export async function createHlsMedia(options: MediaOptions): Promise<PlayerMedia> {
  const { Hls, HlsVideoElement } = await import('hls-video-element').catch((error: unknown) => {
    throw new PlayerError('PLAYER_NOT_LOADED', error);
  });
  if (!Hls.isSupported()) throw new PlayerError('NOT_SUPPORTED');
  if (!customElements.get(HLS_TAG)) customElements.define(HLS_TAG, class extends HlsVideoElement {});
  constructStyles([HLS_TAG]);
  const element = document.createElement(HLS_TAG);
  if (!(element instanceof HlsVideoElement)) throw new PlayerError('PLAYER_NOT_LOADED');
  element.config = {
    // The duration of a growing video is what it has so far.
    liveDurationInfinity: false,
    xhrSetup: (request, url) => request.open('GET', withTokenOf(options.currentUrl(), url), true),
  };
  let current: Hls | null = null;
  const tracks = element as typeof element & AudioTracks & RenditionMenu;
  tracks.audioTracks.addEventListener('change', () => {
    const chosen = [...tracks.audioTracks].find(({ enabled }) => enabled);
    // The element looks for its number, which is that of another bit rate.
    if (chosen) current?.setAudioOption({ name: chosen.label, lang: chosen.language });
  });
  let onAttached = (): void => {};
  // The element sets its member `api` to a new player with each source.
  Object.defineProperty(element, 'api', {
    get: () => current,
    set: (hls: Hls | null) => {
      current = hls;
      hls?.once(Hls.Events.MEDIA_ATTACHED, () => onAttached());
      if (hls) reportErrors(Hls, hls, options.onError);
      if (hls) followLaterRenditions(Hls, hls, tracks);
      // The element adds the tracks in the same event.
      hls?.on(Hls.Events.MANIFEST_PARSED, () => queueMicrotask(() => removeRepeatedTracks(tracks)));
    },
  });
  const open = (url: string): Promise<void> => {
    const attached = new Promise<void>((resolve) => {
      onAttached = resolve;
    });
    // The same URL again would change nothing.
    element.removeAttribute('src');
    element.src = url;
    return attached;
  };
  const continueLoading = (): boolean => {
    const hasManifest = (current?.levels.length ?? 0) > 0;
    if (hasManifest) current?.startLoad();
    return hasManifest;
  };
  return { element, open, continueLoading, followsToken: true };
}

type AudioTrack = { readonly label: string; readonly language: string; readonly enabled: boolean };
type AudioTracks = {
  readonly audioTracks: Iterable<AudioTrack> & EventTarget;
  removeAudioTrack(track: AudioTrack): void;
};

/** A manifest names each language once for each bit rate of its sound. */
function removeRepeatedTracks(media: AudioTracks): void {
  const names = new Set<string>();
  for (const track of [...media.audioTracks]) {
    const name = JSON.stringify([track.label, track.language]);
    if (names.has(name)) media.removeAudioTrack(track);
    names.add(name);
  }
}

const UNAUTHORIZED = 401;

/** A token that is refused is no fatal error as long as there are other renditions to try. */
function reportErrors(
  { Events, ErrorTypes }: HlsModule['Hls'],
  hls: Hls,
  onError: MediaOptions['onError'],
): void {
  let hasRecovered = false;
  hls.on(Events.ERROR, (_event: string, data: ErrorData) => {
    const isRefused = data.response?.code === UNAUTHORIZED;
    if (!data.fatal && !isRefused) return;
    if (data.fatal && data.type === ErrorTypes.MEDIA_ERROR && !hasRecovered) {
      hasRecovered = true;
      hls.recoverMediaError();
      return;
    }
    const isNetwork = data.type === ErrorTypes.NETWORK_ERROR;
    const code = isNetwork ? codeOfStatus(data.response?.code) : 'MEDIA_BROKEN';
    onError(new PlayerError(code, data.error), data.fatal);
  });
}
