// The element <mediary-uploader>: its properties, its drop area, its list and its events.
import type { UploadOptions } from '@mediary/client';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { openConnection, type UploadConnection } from './connection.ts';
import { openDialog, renderDropArea } from './drop-area.ts';
import type { FileRules } from './file-rules.ts';
import { listenForPastes } from './incoming-files.ts';
import { createMemory, type UploadMemory } from './remembered.ts';
import { STYLES } from './styles.ts';
import { ENGLISH, type UploaderTexts } from './texts.ts';
import type { UploadItem } from './upload-item.ts';
import {
  addFiles,
  continueUpload,
  followPage,
  pauseUpload,
  refuseFolder,
  removeItem,
  restoreUploads,
  resumeUpload,
  retryFailed,
} from './upload-list.ts';
import { describeItem, renderRow, type RowAction } from './upload-row.ts';
import {
  toUploadOptions,
  UPLOADER_DEFAULTS,
  type UploaderContext,
  type UploaderEventName,
} from './uploader-context.ts';
import { toEventDetail } from './uploader-events.ts';

type Cached<T> = { readonly key: string; readonly value: T };

export class MediaryUploader extends LitElement {
  static override readonly styles = STYLES;
  static override readonly properties = {
    endpoint: {},
    baseUrl: { attribute: 'base-url' },
    token: {},
    tokenProvider: { attribute: false },
    headers: { attribute: false },
    accept: {},
    maxBytes: { type: Number, attribute: 'max-bytes' },
    maxFiles: { type: Number, attribute: 'max-files' },
    concurrency: { type: Number },
    capture: {},
    visibility: {},
    tags: { attribute: false },
    metadata: { attribute: false },
    replaces: {},
    resumeScope: { attribute: 'resume-scope' },
    skipInspection: { type: Boolean, attribute: 'skip-inspection' },
    disabled: { type: Boolean, reflect: true },
    texts: { attribute: false },
    isDragging: { state: true },
    announcement: { state: true },
  };

  /** URL of your back end; see the guide for what it answers. */
  declare endpoint: string | undefined;
  /** Origin of the service, with `token` or `tokenProvider`, where there is no `endpoint`. */
  declare baseUrl: string | undefined;
  /** An upload token, or the access token of a user. */
  declare token: string | undefined;
  /** Returns a current token; it is called for every request. */
  declare tokenProvider: (() => string | Promise<string>) | undefined;
  /** Sent to `endpoint`, for example against forged requests. */
  declare headers: Readonly<Record<string, string>> | undefined;
  /** As of `<input accept>`. Default: images and videos. */
  declare accept: string;
  declare maxBytes: number | undefined;
  declare maxFiles: number | undefined;
  /** Files that are sent at the same time. */
  declare concurrency: number;
  /** `user` or `environment`: phones show buttons for this camera. */
  declare capture: string | undefined;
  declare visibility: UploadOptions['visibility'];
  declare tags: string[] | undefined;
  declare metadata: Record<string, unknown> | undefined;
  /** The id of an asset that gets the file; use it with `max-files="1"`. */
  declare replaces: string | undefined;
  /** Separates what is remembered for a reload: an id of the user, where several share a browser. */
  declare resumeScope: string;
  /** Leaves the check of the bytes of a file to the service. */
  declare skipInspection: boolean;
  declare disabled: boolean;
  /** Replaces sentences of the element. */
  declare texts: Partial<UploaderTexts> | undefined;
  declare private isDragging: boolean;
  declare private announcement: string;

  /** The row whose file is being chosen again. */
  #chosenFor: UploadItem | undefined;
  #connection: Cached<UploadConnection> | undefined;
  #memory: Cached<UploadMemory> | undefined;
  #stopListening: () => void = () => {};
  readonly #context: UploaderContext;

  constructor() {
    super();
    Object.assign(this, UPLOADER_DEFAULTS, { isDragging: false, announcement: '' });
    this.#context = this.#createContext();
  }

  /** Uploads files that the page has, as if they were dropped. */
  addFiles(files: Iterable<File>): void {
    if (!this.disabled) addFiles(this.#context, [...files]);
  }

  /** Opens the dialog of the browser; only while a click or a key is handled. */
  chooseFiles(): void {
    this.#chosenFor = undefined;
    openDialog(this.renderRoot, 'files');
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const stopPastes = listenForPastes(this, (files) => this.addFiles(files));
    const leavePage = followPage(this.#context);
    this.#stopListening = () => {
      stopPastes();
      leavePage();
    };
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#stopListening();
  }

  protected override updated(changes: PropertyValues<this>): void {
    const names = ['endpoint', 'baseUrl', 'token', 'tokenProvider', 'resumeScope'] as const;
    const isConnected = this.endpoint ?? (this.baseUrl && (this.token ?? this.tokenProvider));
    if (!isConnected || !names.some((name) => changes.has(name))) return;
    // Another service, or another token, has other limits.
    Object.assign(this.#context.rules, { allowedTypes: undefined, maxServiceBytes: undefined });
    void restoreUploads(this.#context);
  }

  #createContext(): UploaderContext {
    const element = this;
    const rules: FileRules = {
      get accept() {
        return element.accept;
      },
      get maxBytes() {
        return element.maxBytes;
      },
      allowedTypes: undefined,
      maxServiceBytes: undefined,
    };
    return {
      items: [],
      rules,
      connection: () => this.#connect(),
      memory: () => this.#remember(),
      texts: () => this.#texts(),
      uploadOptions: () => toUploadOptions(this),
      isInspecting: () => !this.skipInspection,
      maxFiles: () => this.maxFiles ?? Number.POSITIVE_INFINITY,
      onChange: (item) => this.#show(item),
      emit: (name, item) => this.#emit(name, item),
    };
  }

  #texts = (): UploaderTexts => ({ ...ENGLISH, ...this.texts });

  #connect(): UploadConnection {
    const { endpoint, baseUrl, headers, concurrency } = this;
    const hasToken = (this.token ?? this.tokenProvider) !== undefined;
    const key = JSON.stringify([endpoint, baseUrl, headers, concurrency, hasToken]);
    if (this.#connection?.key === key) return this.#connection.value;
    const token = hasToken ? () => this.tokenProvider?.() ?? this.token ?? '' : undefined;
    const value = openConnection({ endpoint, baseUrl, headers, concurrency, token });
    if (!value) throw new Error(this.#texts().unconfigured);
    this.#connection = { key, value };
    return value;
  }

  #remember(): UploadMemory {
    const key = JSON.stringify([this.endpoint ?? this.baseUrl, this.resumeScope]);
    if (this.#memory?.key !== key) this.#memory = { key, value: createMemory(key) };
    return this.#memory.value;
  }

  #show(item?: UploadItem): void {
    const texts = this.#texts();
    if (item) this.announcement = texts.announce(item.name, item.problem ?? describeItem(item, texts));
    this.requestUpdate();
  }

  #emit(name: UploaderEventName, item: UploadItem): void {
    const init = { detail: toEventDetail(item), bubbles: true, composed: true };
    this.dispatchEvent(new CustomEvent(`mediary-upload-${name}`, init));
  }

  #onFileAgain = (file: File): void => {
    const item = this.#chosenFor;
    this.#chosenFor = undefined;
    if (item) continueUpload(this.#context, item, file);
  };

  #onAction = (action: RowAction, item: UploadItem): void => {
    if (action === 'pause') pauseUpload(this.#context, item);
    else if (action === 'retry' && item.phase === 'failed') retryFailed(this.#context, item);
    else if (action === 'resume' || action === 'retry') resumeUpload(this.#context, item);
    else if (action === 'chooseAgain') {
      this.#chosenFor = item;
      openDialog(this.renderRoot, 'again');
    } else {
      removeItem(this.#context, item);
      // The button that had the focus is gone.
      this.renderRoot.querySelector<HTMLElement>('[part~=choose]')?.focus({ preventScroll: true });
    }
  };

  protected override render(): TemplateResult {
    const texts = this.#texts();
    const { items } = this.#context;
    const { accept, capture, isDragging, disabled: isDisabled } = this;
    const area = renderDropArea({
      texts,
      accept,
      capture,
      isDragging,
      isDisabled,
      isMultiple: this.maxFiles !== 1,
      onDragging: (dragging) => {
        this.isDragging = dragging;
      },
      onFiles: (files) => this.addFiles(files),
      onFolder: (name) => refuseFolder(this.#context, name),
      onFileAgain: this.#onFileAgain,
    });
    const rows = repeat(
      items,
      ({ key }) => key,
      (item) => renderRow(item, texts, this.#onAction),
    );
    return html`<div class="frame" role="group" aria-label=${texts.label}>
      ${area}
      ${items.length === 0 ? nothing : html`<ul part="list" aria-label=${texts.list}>${rows}</ul>`}
      <div class="unseen" role="status">${this.announcement}</div>
      <slot name="footer"></slot>
    </div>`;
  }
}
