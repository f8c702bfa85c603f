// One file of the list: its name, its bytes, its encoding, its picture, its buttons.
import { html, nothing, svg, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import { thumbHashToRGBA } from 'thumbhash';
import type { UploaderTexts } from './texts.ts';
import type { UploadItem } from './upload-item.ts';
import { percentOf } from './uploader-events.ts';

export type RowAction = 'pause' | 'resume' | 'retry' | 'cancel' | 'remove' | 'chooseAgain';
type RowActions = (action: RowAction, item: UploadItem) => void;

export function renderRow(item: UploadItem, texts: UploaderTexts, onAction: RowActions): TemplateResult {
  const isOpen = item.phase !== 'ready' && item.phase !== 'failed';
  const label = item.isUploaded ? texts.encodingOf(item.name) : texts.uploadOf(item.name);
  return html`<li part="row" data-phase=${item.phase}>
    <div part="thumbnail">${renderThumbnail(item)}</div>
    <div class="middle">
      <div part="name"><bdi>${toShownName(item.name)}</bdi></div>
      ${
        isOpen
          ? html`<progress part="progress" max="100" aria-label=${label} .value=${percentOf(item)}>
            </progress>`
          : nothing
      }
      <div part="status">${describeItem(item, texts)}</div>
      ${item.problem === undefined ? nothing : html`<div part="error" dir="auto">${item.problem}</div>`}
    </div>
    <div class="buttons">
      ${actionsOf(item).map((action) => renderButton(action, item, { texts, onAction }))}
    </div>
  </li>`;
}

/** Without the characters that reorder what follows, so that no name hides its extension. */
const toShownName = (name: string): string => name.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '');

/** The line below the name, and what the live region says. */
export function describeItem(item: UploadItem, texts: UploaderTexts): string {
  const { phase, size, progress, bytesBefore, asset, isUploaded } = item;
  const sent = texts.sentOf(texts.formatBytes(progress?.bytesSent ?? bytesBefore), texts.formatBytes(size));
  if (phase === 'encoding') return texts.encoding(asset?.progress ?? 0);
  if (phase === 'failed') return isUploaded ? texts.failed : texts.notUploaded;
  if (phase === 'uploading') return [sent, ...describePace(item, texts)].join(' · ');
  if (isUploaded || phase === 'waiting' || phase === 'completing') return texts[phase];
  return [sent, texts[phase]].join(' · ');
}

function describePace({ progress }: UploadItem, texts: UploaderTexts): string[] {
  const { bytesPerSecond = null, secondsLeft = null } = progress ?? {};
  const speed = bytesPerSecond === null ? [] : [texts.speed(texts.formatBytes(bytesPerSecond))];
  const left = secondsLeft === null ? [] : [texts.timeLeft(texts.formatSeconds(secondsLeft))];
  return [...speed, ...left];
}

function actionsOf({ phase, isUploaded, isRetryable, handle }: UploadItem): readonly RowAction[] {
  if (phase === 'interrupted') return ['chooseAgain', 'cancel'];
  if (phase === 'failed') return isRetryable ? ['retry', 'remove'] : ['remove'];
  if (isUploaded || phase === 'completing') return ['remove'];
  if (phase === 'offline') return ['retry', 'cancel'];
  if (phase === 'paused') return ['resume', 'cancel'];
  return handle ? ['pause', 'cancel'] : ['cancel'];
}

const PATHS: Readonly<Record<Exclude<RowAction, 'chooseAgain'>, string>> = {
  pause: 'M8 5v14M16 5v14',
  resume: 'M8 5l11 7-11 7z',
  retry: 'M4 12a8 8 0 1 0 3-6.2M4 4v5h5',
  cancel: 'M6 6l12 12M18 6L6 18',
  remove: 'M6 6l12 12M18 6L6 18',
};

const icon = (path: string): TemplateResult =>
  html`<svg viewBox="0 0 24 24" aria-hidden="true">${svg`<path d=${path} />`}</svg>`;

type ButtonRequest = { readonly texts: UploaderTexts; readonly onAction: RowActions };

function renderButton(
  action: RowAction,
  item: UploadItem,
  { texts, onAction }: ButtonRequest,
): TemplateResult {
  const label = texts[action];
  const onClick = (): void => onAction(action, item);
  if (action === 'chooseAgain')
    return html`<button type="button" part="button choose-again" aria-label=${texts.button(label, item.name)}
      @click=${onClick}>${label}</button>`;
  return html`<button type="button" part="icon-button ${action}" title=${label}
    aria-label=${texts.button(label, item.name)} @click=${onClick}>${icon(PATHS[action])}</button>`;
}

const UPLOAD_PATH = 'M12 16V5M7 9l5-5 5 5M4 17v3h16v-3';
export const uploadIcon = (): TemplateResult => icon(UPLOAD_PATH);

const FILE_PATH = 'M6 3h8l4 4v14H6zM14 3v4h4';

/** The placeholder is drawn: a policy of the page that allows no `data:` images does not stop it. */
function renderThumbnail({ thumbnail, asset, preview }: UploadItem): TemplateResult {
  const picture = thumbnail === undefined ? nothing : html`<img src=${thumbnail} alt="" @error=${hide} />`;
  const hash = asset?.placeholder;
  if (!hash && !preview) return html`${icon(FILE_PATH)}${picture}`;
  const draw = (canvas?: Element): void => {
    if (!(canvas instanceof HTMLCanvasElement)) return;
    if (preview) drawPreview(canvas, preview);
    else if (hash) drawPlaceholder(canvas, hash);
  };
  return html`<canvas ${ref(draw)}></canvas>${picture}`;
}

/** The placeholder stays. */
function hide({ target }: Event): void {
  if (target instanceof HTMLImageElement) target.hidden = true;
}

function drawPreview(canvas: HTMLCanvasElement, preview: ImageBitmap): void {
  const { width, height } = preview;
  Object.assign(canvas, { width, height });
  canvas.getContext('2d')?.drawImage(preview, 0, 0);
}

function drawPlaceholder(canvas: HTMLCanvasElement, base64: string): void {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const { w: width, h: height, rgba } = thumbHashToRGBA(bytes);
  Object.assign(canvas, { width, height });
  canvas.getContext('2d')?.putImageData(new ImageData(new Uint8ClampedArray(rgba), width, height), 0, 0);
}
