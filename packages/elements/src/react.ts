'use client';

// Typed React components of the elements. Importing this file needs no browser: an element is loaded and
// defined after its component was shown.
import {
  createElement,
  type CSSProperties,
  type ReactElement,
  type Ref,
  useCallback,
  useEffect,
  useRef,
} from 'react';
import type { MediaryPlayer as MediaryPlayerElement, PlayerFailure } from './player.ts';

/** Each has the meaning of the attribute or property of `<mediary-player>` with the same name. */
type PlayerOptions = {
  readonly asset?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly token?: string | undefined;
  readonly tokenProvider?: (() => Promise<string>) | undefined;
  readonly access?: 'token' | 'cookie' | undefined;
  readonly src?: string | undefined;
  readonly poster?: string | undefined;
  readonly storyboard?: string | undefined;
  readonly chapters?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly label?: string | undefined;
  readonly preload?: 'none' | 'metadata' | 'auto' | undefined;
  readonly autoplay?: boolean | undefined;
  readonly muted?: boolean | undefined;
  readonly loop?: boolean | undefined;
};

type PlayerHandlers = {
  readonly onPlay?: ((event: Event) => void) | undefined;
  readonly onPause?: ((event: Event) => void) | undefined;
  readonly onEnded?: ((event: Event) => void) | undefined;
  readonly onTimeUpdate?: ((event: Event) => void) | undefined;
  readonly onPlayerError?: ((event: CustomEvent<PlayerFailure>) => void) | undefined;
};

export type MediaryPlayerProps = PlayerOptions &
  PlayerHandlers & {
    readonly className?: string | undefined;
    readonly id?: string | undefined;
    readonly style?: CSSProperties | undefined;
    readonly playerRef?: Ref<MediaryPlayerElement> | undefined;
  };

/** Event → the member of the props that handles it. */
const HANDLERS = {
  play: 'onPlay',
  pause: 'onPause',
  ended: 'onEnded',
  timeupdate: 'onTimeUpdate',
  playererror: 'onPlayerError',
} as const satisfies Record<string, keyof PlayerHandlers>;

export function MediaryPlayer(props: MediaryPlayerProps): ReactElement {
  const element = useRef<MediaryPlayerElement | null>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    void import('./player.ts');
  }, []);
  useEffect(() => followEvents(element.current, latest), []);
  // One function for all renderings: another one would open the player anew.
  const provide = useCallback(async () => (await latest.current.tokenProvider?.()) ?? '', []);
  const hasProvider = props.tokenProvider !== undefined;
  useEffect(() => {
    if (element.current) element.current.tokenProvider = hasProvider ? provide : undefined;
  }, [hasProvider, provide]);
  const isMuted = props.muted === true;
  useEffect(() => {
    // React 18 changes the attribute alone, which is the first value.
    if (element.current) element.current.muted = isMuted;
  }, [isMuted]);
  const ref = useCallback(
    (player: MediaryPlayerElement | null) => {
      element.current = player;
      const { playerRef, tokenProvider } = latest.current;
      // Before the element opens the video.
      if (player && tokenProvider) player.tokenProvider = provide;
      if (typeof playerRef === 'function') playerRef(player);
      else if (playerRef) playerRef.current = player;
    },
    [provide],
  );
  const { className, id, style } = props;
  return createElement('mediary-player', { ...toAttributes(props), class: className, id, style, ref });
}

/** Attributes, so that a server renders them too. A false one is absent. */
function toAttributes(props: PlayerOptions): Record<string, string | true | undefined> {
  const { asset, baseUrl, token, access, src, poster, storyboard, chapters, placeholder, label, preload } =
    props;
  const texts = {
    asset,
    'base-url': baseUrl,
    token,
    access,
    src,
    poster,
    storyboard,
    chapters,
    placeholder,
    label,
    preload,
  };
  // React 19 sets the property of a defined element, where '' would be false.
  const toFlag = (isSet: boolean | undefined) => isSet || undefined;
  return {
    ...texts,
    autoplay: toFlag(props.autoplay),
    muted: toFlag(props.muted),
    loop: toFlag(props.loop),
  };
}

/** Calls the handlers of the latest props. */
function followEvents(
  element: MediaryPlayerElement | null,
  latest: { readonly current: PlayerHandlers },
): () => void {
  const listeners = Object.entries(HANDLERS).map(([type, handler]) => {
    const listener = (event: Event): void => latest.current[handler]?.(event as CustomEvent<PlayerFailure>);
    element?.addEventListener(type, listener);
    return { type, listener };
  });
  return () => {
    for (const { type, listener } of listeners) element?.removeEventListener(type, listener);
  };
}

export { MediaryUploader, type MediaryUploaderProps } from './uploader/react-uploader.ts';
