// The look of the uploader. Variables of the page change it, and parts reach everything else.
import { css } from 'lit';

export const STYLES = css`
  :host {
    --_accent: var(--mediary-accent, light-dark(#1864ab, #74c0fc));
    --_on-accent: var(--mediary-on-accent, light-dark(#ffffff, #0b1f33));
    --_text: var(--mediary-text, light-dark(#1b1f24, #e9ecef));
    --_muted: var(--mediary-muted, light-dark(#50575e, #adb5bd));
    --_surface: var(--mediary-surface, light-dark(#ffffff, #1b1e22));
    --_border: var(--mediary-border, light-dark(#b6bdc5, #4a5159));
    --_danger: var(--mediary-danger, light-dark(#b42318, #ff8787));
    --_radius: var(--mediary-radius, 8px);
    display: block;
    color: var(--_text);
    font: 400 1rem / 1.45 var(--mediary-font, system-ui, sans-serif);
    text-align: start;
  }
  :host([hidden]) {
    display: none;
  }
  * {
    box-sizing: border-box;
  }
  [part='dropzone'] {
    display: grid;
    justify-items: center;
    gap: 6px;
    padding: 28px 16px;
    border: 2px dashed var(--_border);
    border-radius: var(--_radius);
    background: var(--_surface);
    text-align: center;
    cursor: pointer;
  }
  [part='dropzone'][data-dragging] {
    border-color: var(--_accent);
    border-style: solid;
  }
  [part='dropzone'][data-disabled] {
    cursor: not-allowed;
  }
  [part='icon'] svg {
    width: 36px;
    height: 36px;
    color: var(--_accent);
  }
  [part='prompt'] {
    font-size: 1.125em;
    font-weight: 600;
  }
  [part='hint'],
  [part='status'] {
    color: var(--_muted);
    font-size: 0.875em;
  }
  .choices {
    display: flex;
    flex-wrap: wrap;
    justify-content: center;
    gap: 8px;
    margin-top: 6px;
  }
  button {
    font: inherit;
    cursor: pointer;
    border-radius: calc(var(--_radius) * 0.75);
  }
  button:disabled {
    opacity: 0.55;
    cursor: not-allowed;
  }
  button:focus-visible {
    outline: 3px solid var(--_accent);
    outline-offset: 2px;
  }
  [part~='button'] {
    min-height: 44px;
    padding: 8px 16px;
    border: 1px solid var(--_accent);
    background: var(--_accent);
    color: var(--_on-accent);
    font-weight: 600;
  }
  [part~='camera'],
  [part~='choose-again'] {
    background: transparent;
    color: var(--_accent);
  }
  [part~='camera'] {
    display: none;
  }
  @media (pointer: coarse) {
    [part~='camera'] {
      display: inline-block;
    }
  }
  [part='list'] {
    display: grid;
    gap: 8px;
    margin: 12px 0 0;
    padding: 0;
    list-style: none;
  }
  [part='row'] {
    display: grid;
    grid-template-columns: 56px minmax(0, 1fr) auto;
    align-items: center;
    gap: 12px;
    padding: 10px 12px;
    border: 1px solid var(--_border);
    border-radius: var(--_radius);
    background: var(--_surface);
  }
  [part='row'][data-phase='failed'] {
    border-color: var(--_danger);
  }
  [part='thumbnail'] {
    position: relative;
    display: grid;
    place-items: center;
    width: 56px;
    height: 56px;
    overflow: hidden;
    border-radius: calc(var(--_radius) * 0.5);
    background: color-mix(in srgb, var(--_border) 25%, transparent);
    color: var(--_muted);
  }
  [part='thumbnail'] svg {
    width: 24px;
    height: 24px;
  }
  [part='thumbnail'] :is(img, canvas) {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    object-fit: cover;
  }
  [part='name'] {
    display: -webkit-box;
    overflow: hidden;
    font-weight: 600;
    overflow-wrap: anywhere;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
  }
  [part='status'] {
    font-variant-numeric: tabular-nums;
  }
  [part='error'] {
    color: var(--_danger);
    font-size: 0.875em;
    overflow-wrap: anywhere;
  }
  [part='progress'] {
    display: block;
    width: 100%;
    height: 8px;
    margin: 6px 0;
    overflow: hidden;
    appearance: none;
    border: 0;
    border-radius: 4px;
    background: color-mix(in srgb, var(--_border) 45%, transparent);
    accent-color: var(--_accent);
  }
  [part='progress']::-webkit-progress-bar {
    background: transparent;
  }
  [part='progress']::-webkit-progress-value {
    border-radius: 4px;
    background: var(--_accent);
  }
  [part='progress']::-moz-progress-bar {
    background: var(--_accent);
  }
  .buttons {
    display: flex;
  }
  [part~='icon-button'] {
    display: grid;
    place-items: center;
    width: 44px;
    height: 44px;
    padding: 0;
    border: 0;
    background: transparent;
    color: var(--_text);
  }
  [part~='icon-button']:hover {
    background: color-mix(in srgb, var(--_border) 30%, transparent);
  }
  svg {
    width: 22px;
    height: 22px;
    fill: none;
    stroke: currentColor;
    stroke-width: 2;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .unseen {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @container (max-width: 30rem) {
    [part='row'] {
      grid-template-columns: 44px minmax(0, 1fr) auto;
      gap: 8px 10px;
    }
    [part='thumbnail'] {
      width: 44px;
      height: 44px;
    }
    [part~='icon-button'] {
      width: 40px;
    }
    [data-phase='interrupted'] .buttons {
      grid-column: 1 / -1;
      justify-content: flex-end;
    }
  }
  .frame {
    position: relative;
    container-type: inline-size;
  }
`;
