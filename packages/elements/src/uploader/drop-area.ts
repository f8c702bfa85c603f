// The area that takes files: drops, a dialog, and the camera of a phone.
import { html, nothing, type TemplateResult } from 'lit';
import { findAcceptedKinds } from './file-rules.ts';
import { readDrop } from './incoming-files.ts';
import type { UploaderTexts } from './texts.ts';
import { uploadIcon } from './upload-row.ts';

type DropAreaView = {
  readonly texts: UploaderTexts;
  readonly accept: string;
  readonly capture: string | undefined;
  readonly isDisabled: boolean;
  readonly isMultiple: boolean;
  readonly isDragging: boolean;
  readonly onDragging: (isDragging: boolean) => void;
  readonly onFiles: (files: readonly File[]) => void;
  readonly onFolder: (name: string) => void;
  /** Of the row whose file is chosen again. */
  readonly onFileAgain: (file: File) => void;
};

export function renderDropArea(view: DropAreaView): TemplateResult {
  const { texts, isDisabled, isDragging } = view;
  return html`<div
      part="dropzone"
      ?data-dragging=${isDragging}
      ?data-disabled=${isDisabled}
      @click=${(event: Event) => openByClick(event, isDisabled)}
      @dragenter=${(event: DragEvent) => onDrag(event, view)}
      @dragover=${(event: DragEvent) => onDrag(event, view)}
      @dragleave=${() => view.onDragging(false)}
      @drop=${(event: DragEvent) => onDrop(event, view)}
    >
      <div part="icon"><slot name="icon">${uploadIcon()}</slot></div>
      <div part="prompt"><slot name="prompt">${texts.prompt(findAcceptedKinds(view.accept))}</slot></div>
      <div part="hint"><slot name="hint">${texts.hint}</slot></div>
      <div class="choices">
        <button type="button" part="button choose" ?disabled=${isDisabled} @click=${opener('files')}>
          <slot name="choose">${texts.choose}</slot>
        </button>
        ${view.capture === undefined ? nothing : renderCameras(view)}
      </div>
    </div>
    ${renderInputs(view)}`;
}

function renderCameras({ texts, accept, isDisabled }: DropAreaView): TemplateResult[] {
  const kinds = findAcceptedKinds(accept);
  const cameras = (
    [
      { name: 'photo', kind: 'image', text: texts.takePhoto },
      { name: 'video', kind: 'video', text: texts.recordVideo },
    ] as const
  ).filter(({ kind }) => kinds.includes(kind));
  return cameras.map(
    ({ name, text }) =>
      html`<button type="button" part="button camera" ?disabled=${isDisabled} @click=${opener(name)}>
        <slot name=${name}>${text}</slot>
      </button>`,
  );
}

/** Phones open the camera for an input of one kind alone. */
function renderInputs(view: DropAreaView): TemplateResult {
  const { accept, capture, isMultiple, onFiles, onFileAgain } = view;
  const onOne = ([file]: readonly File[]): void => {
    if (file) onFileAgain(file);
  };
  const camera = (name: string, kind: string) =>
    html`<input type="file" name=${name} hidden accept=${kind} capture=${capture ?? nothing}
      @change=${reader(onFiles)} />`;
  return html`<input type="file" name="files" hidden ?multiple=${isMultiple} accept=${accept}
      @change=${reader(onFiles)} />
    <input type="file" name="again" hidden @change=${reader(onOne)} />
    ${capture === undefined ? nothing : [camera('photo', 'image/*'), camera('video', 'video/*')]}`;
}

/** Opens the dialog of the browser. */
export function openDialog(root: Node, name: string): void {
  if (root instanceof ShadowRoot) root.querySelector<HTMLInputElement>(`input[name=${name}]`)?.click();
}

const rootOf = ({ currentTarget }: Event): Node | undefined =>
  currentTarget instanceof Node ? currentTarget.getRootNode() : undefined;

const opener = (name: string) => (event: Event) => {
  const root = rootOf(event);
  event.stopPropagation();
  if (root) openDialog(root, name);
};

function openByClick(event: Event, isDisabled: boolean): void {
  const root = rootOf(event);
  if (root && !isDisabled) openDialog(root, 'files');
}

const reader =
  (onFiles: (files: readonly File[]) => void) =>
  ({ target }: Event): void => {
    if (!(target instanceof HTMLInputElement)) return;
    const files = [...(target.files ?? [])];
    // The same file can be chosen again.
    target.value = '';
    onFiles(files);
  };

function onDrag(event: DragEvent, { isDisabled, onDragging }: DropAreaView): void {
  if (!event.dataTransfer?.types.includes('Files')) return;
  event.preventDefault();
  onDragging(!isDisabled);
}

function onDrop(event: DragEvent, { isDisabled, onDragging, onFiles, onFolder }: DropAreaView): void {
  event.preventDefault();
  onDragging(false);
  const { files, folders } = readDrop(event.dataTransfer);
  if (isDisabled) return;
  for (const name of folders) onFolder(name);
  onFiles(files);
}
