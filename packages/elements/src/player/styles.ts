// The styles of <mediary-player>. Variables without an underscore are public (docs/guides/elements.md).
import { css } from 'lit';

export const PLAYER_STYLES = css`
  :host {
    display: block;
    position: relative;
    container-type: inline-size;
    aspect-ratio: var(--mediary-aspect-ratio, var(--_ratio, 16 / 9));
    overflow: hidden;
    border-radius: var(--mediary-radius, 0);
    background: var(--mediary-background, #000);
    --_foreground: var(--mediary-foreground, #fff);
    --_accent: var(--mediary-accent, #fff);
    --_font: var(--mediary-font, system-ui, sans-serif);
    --media-font-family: var(--_font);
    --media-primary-color: var(--_foreground);
    --media-background-color: transparent;
    --media-control-background: transparent;
    --media-control-hover-background: rgb(255 255 255 / 0.18);
    --media-range-bar-color: var(--_accent);
    --media-range-thumb-background: var(--_accent);
    --media-range-track-background: rgb(255 255 255 / 0.35);
    --media-menu-background: var(--mediary-menu-background, rgb(20 20 24 / 0.94));
    --media-menu-border-radius: 8px;
    --media-tooltip-background-color: rgb(20 20 24 / 0.94);
    --media-preview-border-radius: 6px;
  }
  :host([hidden]) {
    display: none;
  }
  media-controller {
    display: block;
    width: 100%;
    height: 100%;
  }
  /* Captions move above the controls while these can be seen. */
  media-controller[data-started]:is([mediapaused], :not([userinactive])) > [slot='media'] {
    --media-webkit-text-track-transform: translateY(-76px);
  }
  [slot='media'] {
    --media-webkit-text-track-transition: transform 0.2s;
  }
  [slot='poster'] {
    position: relative;
    pointer-events: none;
  }
  [slot='poster'] > * {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    object-fit: contain;
  }
  [hidden] {
    display: none !important;
  }
  media-controller:not([data-started]) > media-control-bar,
  media-controller:not([data-started]) > media-loading-indicator {
    display: none;
  }
  media-control-bar {
    box-sizing: border-box;
    width: 100%;
    align-items: center;
  }
  [part='control-bar'] {
    padding: 0 6px 6px;
    background: rgb(0 0 0 / 0.72);
  }
  [part='seek-bar'] {
    padding-top: 28px;
    background: linear-gradient(transparent, rgb(0 0 0 / 0.72));
  }
  media-time-range {
    width: 100%;
    height: 20px;
    --media-preview-background: rgb(20 20 24 / 0.94);
  }
  media-preview-thumbnail {
    max-width: 180px;
  }
  [part='menu'] {
    z-index: 1;
    border-radius: 8px 8px 0 0;
  }
  .spacer {
    flex: 1;
  }
  media-volume-range {
    width: 80px;
  }
  media-airplay-button[mediaairplayunavailable],
  media-cast-button[mediacastunavailable],
  media-pip-button[mediapipunavailable],
  media-fullscreen-button[mediafullscreenunavailable],
  media-volume-range[mediavolumeunavailable],
  media-captions-menu-button:not([mediasubtitleslist]),
  media-settings-menu-item[submenusize='0'],
  media-settings-menu-item[submenusize='1'] {
    display: none;
  }
  :focus-visible {
    outline: 2px solid var(--_foreground);
    outline-offset: -2px;
  }
  [part='start-button'] {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    padding: 0;
    border: 0;
    background: none;
    cursor: pointer;
  }
  [part='start-button']::before,
  [part='start-button']::after {
    content: '';
    position: absolute;
    top: 50%;
    left: 50%;
    transform: translate(-50%, -50%);
  }
  [part='start-button']::before {
    box-sizing: border-box;
    width: 72px;
    height: 72px;
    border-radius: 50%;
    background: var(--mediary-start-background, rgb(0 0 0 / 0.65));
  }
  [part='start-button']:hover::before,
  [part='start-button']:focus-visible::before {
    outline: 2px solid var(--_foreground);
  }
  [part='start-button']::after {
    margin-left: 4px;
    border-style: solid;
    border-width: 16px 0 16px 26px;
    border-color: transparent transparent transparent var(--_foreground);
  }
  [part='start-button'][aria-busy='true']::after {
    display: none;
  }
  [part='start-button'][aria-busy='true']::before {
    border: 3px solid rgb(255 255 255 / 0.3);
    border-top-color: var(--_foreground);
    animation: turn 1s linear infinite;
  }
  @keyframes turn {
    to {
      rotate: 360deg;
    }
  }
  @media (prefers-reduced-motion: reduce) {
    [part='start-button'][aria-busy='true']::before {
      animation-duration: 4s;
    }
  }
  [part~='message'] {
    box-sizing: border-box;
    max-width: min(90%, 440px);
    padding: 16px 20px;
    border-radius: 8px;
    background: rgb(20 20 24 / 0.94);
    color: #fff;
    font: 15px / 1.45 var(--_font);
    text-align: center;
  }
  [part~='message'] p {
    margin: 0;
  }
  [part~='message'] .code {
    margin: 4px 0 12px;
    color: #c4c4cc;
    font: 12px / 1.4 ui-monospace, monospace;
  }
  [part~='message'] button {
    padding: 8px 16px;
    border: 0;
    border-radius: 6px;
    background: #fff;
    color: #141418;
    font: inherit;
    cursor: pointer;
  }
  @container (max-width: 480px) {
    media-volume-range,
    media-pip-button {
      display: none;
    }
  }
`;
