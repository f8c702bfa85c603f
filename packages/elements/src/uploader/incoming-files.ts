// Files that come by a drop or from the clipboard.

type DroppedFiles = { readonly files: readonly File[]; readonly folders: readonly string[] };

/** A folder comes as a file that cannot be read. */
export function readDrop(transfer: DataTransfer | null): DroppedFiles {
  const items = [...(transfer?.items ?? [])].filter(({ kind }) => kind === 'file');
  const entries = items.map((item) => ({ file: item.getAsFile(), entry: item.webkitGetAsEntry() }));
  const folders = entries.flatMap(({ entry }) => (entry?.isDirectory ? [entry.name] : []));
  const files = entries.flatMap(({ entry, file }) => (file && !entry?.isDirectory ? [file] : []));
  return { files, folders };
}

/**
 * Calls `onFiles` with files that users paste outside of fields. With several uploaders, the focused one gets
 * them, else the first one. Returns a function that stops listening.
 */
export function listenForPastes(element: HTMLElement, onFiles: (files: readonly File[]) => void): () => void {
  const { ownerDocument: page } = element;
  const onPaste = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])];
    const { activeElement: active } = page;
    const isForOther = active?.localName === element.localName && active !== element;
    if (files.length === 0 || event.defaultPrevented || isForOther || event.composedPath().some(isField))
      return;
    event.preventDefault();
    onFiles(files);
  };
  page.addEventListener('paste', onPaste);
  return () => page.removeEventListener('paste', onPaste);
}

const isField = (target: EventTarget): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
