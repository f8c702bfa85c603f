// The menu of chapters: media-chrome knows the chapters of a video, and has no menu for them.
import { MediaUIAttributes, MediaUIEvents } from 'media-chrome/constants';
import { createMenuItem, MediaChromeMenu } from 'media-chrome/menu/media-chrome-menu';

type Cue = { readonly text: string; readonly startTime: number; readonly endTime: number };

const TAG = 'mediary-chapters-menu';

/** Like the other menus, it gets what it shows from the controller that contains it. */
class ChaptersMenu extends MediaChromeMenu {
  #cues: readonly Cue[] = [];
  #current = -1;

  static override get observedAttributes(): string[] {
    return [...MediaChromeMenu.observedAttributes, MediaUIAttributes.MEDIA_CURRENT_TIME];
  }

  get mediaChaptersCues(): readonly Cue[] {
    return this.#cues;
  }

  set mediaChaptersCues(cues: readonly Cue[]) {
    this.#cues = cues;
    this.#render();
  }

  override attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    super.attributeChangedCallback(name, before, after);
    if (name === MediaUIAttributes.MEDIA_CURRENT_TIME && this.#find() !== this.#current) this.#render();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.addEventListener('change', this.#seek);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.removeEventListener('change', this.#seek);
  }

  /** The index of the chapter that plays; -1 before the first one. */
  #find(): number {
    const seconds = Number(this.getAttribute(MediaUIAttributes.MEDIA_CURRENT_TIME) ?? 0);
    return this.#cues.filter(({ startTime }) => startTime <= seconds).length - 1;
  }

  #render(): void {
    this.#current = this.#find();
    const items = this.#cues.map(({ text, startTime }, index) =>
      createMenuItem({ type: 'radio', text, value: `${startTime}`, checked: index === this.#current }),
    );
    this.defaultSlot.replaceChildren(...items);
  }

  #seek = (): void => {
    if (this.value === '') return;
    const request = new CustomEvent(MediaUIEvents.MEDIA_SEEK_REQUEST, {
      composed: true,
      bubbles: true,
      detail: Number(this.value),
    });
    this.dispatchEvent(request);
  };
}

/** Bundlers drop a file that only defines an element. */
export function defineChaptersMenu(): void {
  if (!customElements.get(TAG)) customElements.define(TAG, ChaptersMenu);
}
