// The picture, the controls and the messages of the player, as lit templates over media-chrome.
import 'media-chrome/media-controller';
import 'media-chrome/media-airplay-button';
import 'media-chrome/media-cast-button';
import 'media-chrome/media-control-bar';
import 'media-chrome/media-fullscreen-button';
import 'media-chrome/media-loading-indicator';
import 'media-chrome/media-mute-button';
import 'media-chrome/media-pip-button';
import 'media-chrome/media-play-button';
import 'media-chrome/media-preview-chapter-display';
import 'media-chrome/media-preview-thumbnail';
import 'media-chrome/media-preview-time-display';
import 'media-chrome/media-time-display';
import 'media-chrome/media-time-range';
import 'media-chrome/media-volume-range';
import 'media-chrome/menu/media-audio-track-menu';
import 'media-chrome/menu/media-captions-menu';
import 'media-chrome/menu/media-captions-menu-button';
import 'media-chrome/menu/media-playback-rate-menu';
import 'media-chrome/menu/media-rendition-menu';
import 'media-chrome/menu/media-settings-menu';
import 'media-chrome/menu/media-settings-menu-button';
import 'media-chrome/menu/media-settings-menu-item';
import { html, nothing, type TemplateResult } from 'lit';
import { thumbHashToRGBA } from 'thumbhash';
import { defineChaptersMenu } from './chapters-menu.ts';
import { constructStyles } from './constructed-styles.ts';
import type { PlaybackView } from './playback.ts';

defineChaptersMenu();
constructStyles([
  'media-controller',
  'media-airplay-button',
  'media-audio-track-menu',
  'media-captions-menu',
  'media-captions-menu-button',
  'media-cast-button',
  'media-chrome-button',
  'media-chrome-dialog',
  'media-chrome-menu',
  'media-chrome-menu-item',
  'media-control-bar',
  'media-error-dialog',
  'media-fullscreen-button',
  'media-gesture-receiver',
  'media-keyboard-shortcuts-dialog',
  'media-loading-indicator',
  'media-mute-button',
  'media-pip-button',
  'media-play-button',
  'media-playback-rate-menu',
  'media-preview-chapter-display',
  'media-preview-thumbnail',
  'media-preview-time-display',
  'media-rendition-menu',
  'media-settings-menu',
  'media-settings-menu-button',
  'media-settings-menu-item',
  'media-text-display',
  'media-time-display',
  'media-time-range',
  'media-tooltip',
  'media-volume-range',
]);

type ControlsView = PlaybackView & {
  /** A frame of the video can be seen. */
  readonly hasPicture: boolean;
  /** The stream has no pictures. */
  readonly isAudio: boolean;
  readonly onPlay: () => void;
  readonly onRetry: () => void;
};

const AUTOHIDE_SECONDS = 2;
const NEVER_HIDES = -1;

export function renderControls(view: ControlsView): TemplateResult {
  return html`
    <media-controller
      part="controller"
      nosubtitleslangpref
      ?data-started=${view.media !== undefined && view.phase !== 'failed'}
      autohide=${view.isAudio ? NEVER_HIDES : AUTOHIDE_SECONDS}
      @mediaplayrequest=${view.media ? nothing : view.onPlay}
    >
      ${view.media ?? nothing}
      ${renderPoster(view)}
      <media-loading-indicator slot="centered-chrome" noautohide></media-loading-indicator>
      ${renderMessage(view)}
      ${renderMenus()}
      <media-control-bar part="seek-bar" class="seek">
        <media-time-range>
          <media-preview-thumbnail slot="preview"></media-preview-thumbnail>
          <media-preview-chapter-display slot="preview"></media-preview-chapter-display>
          <media-preview-time-display slot="preview"></media-preview-time-display>
        </media-time-range>
      </media-control-bar>
      <media-control-bar part="control-bar">
        <media-play-button></media-play-button>
        <media-mute-button></media-mute-button>
        <media-volume-range></media-volume-range>
        <media-time-display showduration notoggle></media-time-display>
        <span class="spacer"></span>
        <media-captions-menu-button></media-captions-menu-button>
        <media-settings-menu-button></media-settings-menu-button>
        <media-airplay-button></media-airplay-button>
        <media-cast-button></media-cast-button>
        ${
          view.isAudio
            ? nothing
            : html`<media-pip-button></media-pip-button>
                <media-fullscreen-button></media-fullscreen-button>`
        }
      </media-control-bar>
    </media-controller>
  `;
}

const hide = ({ currentTarget }: Event): void => {
  if (currentTarget instanceof HTMLElement) currentTarget.hidden = true;
};

function renderPoster({ source, hasPicture }: ControlsView): TemplateResult | typeof nothing {
  if (hasPicture) return nothing;
  const poster = source?.poster;
  return html`
    <div slot="poster" part="poster">
      <canvas aria-hidden="true"></canvas>
      ${poster === undefined ? nothing : html`<img alt="" src=${poster} @error=${hide} />`}
    </div>
  `;
}

/**
 * Draws a ThumbHash in base64; an invalid one draws nothing. A canvas needs no permission of a
 * Content-Security-Policy; a data URL does.
 */
export function drawPlaceholder(canvas: HTMLCanvasElement, hash: string): void {
  try {
    const bytes = Uint8Array.from(atob(hash), (character) => character.charCodeAt(0));
    const { w: width, h: height, rgba } = thumbHashToRGBA(bytes);
    Object.assign(canvas, { width, height });
    canvas.getContext('2d')?.putImageData(new ImageData(new Uint8ClampedArray(rgba), width, height), 0, 0);
  } catch {
    canvas.hidden = true;
  }
}

function renderMessage({ phase, failure, onPlay, onRetry }: ControlsView): TemplateResult | typeof nothing {
  if (failure)
    return html`
      <div slot="centered-chrome" noautohide part="message error" role="alert">
        <p>${failure.message}</p>
        <p class="code">${failure.code}</p>
        <button type="button" @click=${onRetry}>Try again</button>
      </div>
    `;
  if (phase === 'waiting')
    return html`
      <div slot="centered-chrome" noautohide part="message" role="status">
        <p>This video is being prepared. It starts here as soon as it can play.</p>
      </div>
    `;
  if (phase === 'ready') return nothing;
  const isBusy = phase !== 'idle';
  return html`
    <button
      slot="centered-chrome"
      noautohide
      part="start-button"
      type="button"
      aria-label="Play"
      aria-busy=${isBusy}
      @click=${onPlay}
    ></button>
  `;
}

/** media-chrome leaves a part open when Escape closes the menu around it: screen readers would read it. */
function closeParts({ target, currentTarget }: Event): void {
  if (!(currentTarget instanceof HTMLElement) || target !== currentTarget || !currentTarget.hidden) return;
  for (const part of currentTarget.querySelectorAll<HTMLElement>('[slot="submenu"]')) part.hidden = true;
}

/** A menu with a single choice is hidden by the styles. */
const renderMenus = (): TemplateResult => html`
  <media-captions-menu part="menu" hidden anchor="auto"></media-captions-menu>
  <media-settings-menu part="menu" hidden anchor="auto" @toggle=${closeParts}>
    <media-settings-menu-item>
      Chapters
      <mediary-chapters-menu slot="submenu" hidden><div slot="title">Chapters</div></mediary-chapters-menu>
    </media-settings-menu-item>
    <media-settings-menu-item>
      Quality
      <media-rendition-menu slot="submenu" hidden><div slot="title">Quality</div></media-rendition-menu>
    </media-settings-menu-item>
    <media-settings-menu-item>
      Speed
      <media-playback-rate-menu slot="submenu" hidden rates="0.5 0.75 1 1.25 1.5 2">
        <div slot="title">Speed</div>
      </media-playback-rate-menu>
    </media-settings-menu-item>
    <media-settings-menu-item>
      Audio
      <media-audio-track-menu slot="submenu" hidden><div slot="title">Audio</div></media-audio-track-menu>
    </media-settings-menu-item>
    <media-settings-menu-item>
      Captions
      <media-captions-menu slot="submenu" hidden><div slot="title">Captions</div></media-captions-menu>
    </media-settings-menu-item>
  </media-settings-menu>
`;
