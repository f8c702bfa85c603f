// Defines <mediary-player>, a player for the videos of a Mediary service (docs/guides/elements.md).
import { LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { applyCaptionsChoice, recordCaptionsChoices } from './player/captions-choice.ts';
import { drawPlaceholder, renderControls } from './player/controls.ts';
import {
  FIRST_VIEW,
  openPlayback,
  type Playback,
  type PlaybackView,
  type TokenProvider,
} from './player/playback.ts';
import type { PlayerErrorCode } from './player/player-error.ts';
import { addSeekTracks } from './player/seek-tracks.ts';
import type { PlayerSource } from './player/source.ts';
import { PLAYER_STYLES } from './player/styles.ts';

export type PlayerFailure = { readonly code: PlayerErrorCode; readonly message: string };

/** Another video, or another way to it, opens the player anew. */
const OPENS_ANEW = [
  'asset',
  'baseUrl',
  'src',
  'poster',
  'storyboard',
  'chapters',
  'placeholder',
  'token',
  'access',
  'tokenProvider',
];

/** Events of the media element that the player repeats. */
const MEDIA_EVENTS = [
  'durationchange',
  'ended',
  'loadedmetadata',
  'pause',
  'play',
  'playing',
  'ratechange',
  'seeked',
  'seeking',
  'timeupdate',
  'volumechange',
  'waiting',
] as const;

export class MediaryPlayer extends LitElement {
  static override styles = PLAYER_STYLES;
  static override properties = {
    asset: {},
    baseUrl: { attribute: 'base-url' },
    token: {},
    tokenProvider: { attribute: false },
    access: {},
    src: {},
    poster: {},
    storyboard: {},
    chapters: {},
    placeholder: {},
    label: {},
    preload: {},
    autoplay: { type: Boolean },
    muted: { attribute: false, noAccessor: true },
    loop: { type: Boolean },
    view: { state: true },
    hasPicture: { state: true },
    isAudio: { state: true },
  };

  declare asset: string | undefined;
  declare baseUrl: string | undefined;
  /** An access token of the owner, or a playback token. */
  declare token: string | undefined;
  /** Returns a current token. Called first, and again before the token ends. */
  declare tokenProvider: TokenProvider | undefined;
  declare access: 'token' | 'cookie' | undefined;
  declare src: string | undefined;
  declare poster: string | undefined;
  declare storyboard: string | undefined;
  declare chapters: string | undefined;
  declare placeholder: string | undefined;
  declare label: string | undefined;
  declare preload: 'none' | 'metadata' | 'auto' | undefined;
  declare autoplay: boolean;
  declare loop: boolean;
  declare private view: PlaybackView;
  declare private hasPicture: boolean;
  /** The stream has no pictures. */
  declare private isAudio: boolean;
  #playback: Playback | undefined;
  /** Undefined until the page or the viewer decides. */
  #isMuted: boolean | undefined;

  constructor() {
    super();
    this.view = FIRST_VIEW;
    this.hasPicture = false;
    this.isAudio = false;
  }

  /** The media element, with the members of `HTMLVideoElement`; null until the video is loaded. */
  get media(): HTMLVideoElement | null {
    return this.view.media ?? null;
  }

  /** As of `<video>`: the attribute is its first value. */
  get muted(): boolean {
    return this.media?.muted ?? this.#isMuted ?? this.hasAttribute('muted');
  }

  set muted(isMuted: boolean | undefined) {
    this.#isMuted = Boolean(isMuted);
    if (this.media) this.media.muted = this.#isMuted;
  }

  play(): Promise<void> {
    return this.#playback?.play() ?? Promise.resolve();
  }

  pause(): void {
    this.media?.pause();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#close();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) this.#open();
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (!this.hasUpdated || OPENS_ANEW.some((name) => changed.has(name))) this.#open();
  }

  protected override firstUpdated(): void {
    const controller = this.renderRoot.querySelector('media-controller');
    if (controller) recordCaptionsChoices(controller, () => this.media);
  }

  protected override updated(): void {
    const { source, media } = this.view;
    // The controller gives itself a label when it is connected.
    const label = this.label ?? source?.title ?? (this.isAudio ? 'Audio' : 'Video');
    this.renderRoot.querySelector('media-controller')?.setAttribute('aria-label', label);
    const canvas = this.renderRoot.querySelector('canvas');
    if (canvas && source?.placeholder !== undefined) drawPlaceholder(canvas, source.placeholder);
    if (source?.aspectRatio !== undefined) this.style.setProperty('--_ratio', `${source.aspectRatio}`);
    if (media) Object.assign(media, { loop: this.loop });
  }

  protected override render(): TemplateResult {
    const { view, hasPicture, isAudio } = this;
    const onRetry = () => void this.#playback?.retry();
    return renderControls({ ...view, hasPicture, isAudio, onPlay: () => this.#start(), onRetry });
  }

  /** The button is removed then, and the keyboard moves on to the controller. */
  #start(): void {
    this.renderRoot.querySelector<HTMLElement>('media-controller')?.focus();
    void this.play();
  }

  #close(): void {
    this.#isMuted = this.media?.muted ?? this.#isMuted;
    this.#playback?.close();
    this.#playback = undefined;
    this.view = FIRST_VIEW;
    this.hasPicture = false;
    this.isAudio = false;
  }

  #open(): void {
    this.#close();
    const { asset, baseUrl, src, poster, storyboard, chapters, placeholder, token, tokenProvider } = this;
    const access = this.access === 'cookie' ? 'cookie' : 'token';
    this.#playback = openPlayback({
      request: { asset, baseUrl, src, poster, storyboard, chapters, placeholder, access },
      token: token === '' ? undefined : token,
      tokenProvider,
      startsAtOnce: (source) => this.#preloadOf(source) !== 'none',
      autoplay: this.autoplay,
      prepare: (media, source) => this.#prepare(media, source),
      onChange: (view) => this.#show(view),
    });
  }

  /** The first frame takes the place of a poster, which a video has once it is encoded. */
  #preloadOf({ poster }: PlayerSource): 'none' | 'metadata' | 'auto' {
    return this.preload ?? (poster === undefined ? 'metadata' : 'none');
  }

  #prepare(media: HTMLVideoElement, source: PlayerSource): void {
    const { poster } = source;
    const preload = this.#preloadOf(source);
    media.slot = 'media';
    media.setAttribute('part', 'video');
    media.setAttribute('playsinline', '');
    // The viewer has pressed play, unless it loads before.
    media.setAttribute('preload', preload === 'none' ? 'auto' : preload);
    media.toggleAttribute('muted', this.muted);
    media.muted = this.muted;
    addSeekTracks(media, source);
    applyCaptionsChoice(media);
    const showPicture = (): void => {
      this.hasPicture = media.videoWidth > 0;
    };
    media.addEventListener('playing', showPicture);
    if (poster === undefined) media.addEventListener('loadeddata', showPicture);
    media.addEventListener('loadedmetadata', () => {
      const { videoWidth, videoHeight } = media;
      this.isAudio = videoWidth === 0;
      // Browsers show it as long as there is no picture.
      if (this.isAudio && poster !== undefined) media.setAttribute('poster', poster);
      if (videoWidth && videoHeight) this.style.setProperty('--_ratio', `${videoWidth / videoHeight}`);
    });
    for (const type of MEDIA_EVENTS) media.addEventListener(type, () => this.dispatchEvent(new Event(type)));
  }

  #show(view: PlaybackView): void {
    const isNew = view.failure !== undefined && view.failure !== this.view.failure;
    this.view = view;
    if (!isNew || !view.failure) return;
    const { code, message } = view.failure;
    const detail: PlayerFailure = { code, message };
    this.dispatchEvent(new CustomEvent('playererror', { detail }));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'mediary-player': MediaryPlayer;
  }
}

if (!customElements.get('mediary-player')) customElements.define('mediary-player', MediaryPlayer);
