// Moves the styles of media elements into constructed style sheets, which a strict Content-Security-Policy
// allows. The libraries write `<style>` elements, which need 'unsafe-inline' or a nonce.

/** The selector by which media-chrome finds the style sheets of an element to change their rules. */
const OWN_STYLES = 'style:not([media])';

/** Applies to instances that are created later. */
export function constructStyles(tags: readonly string[]): void {
  if (!('replaceSync' in CSSStyleSheet.prototype)) return;
  for (const tag of tags) {
    const prototype = customElements.get(tag)?.prototype;
    if (prototype) Object.defineProperty(prototype, 'attachShadow', { value: attachStyledShadow });
  }
}

function attachStyledShadow(this: HTMLElement, options: ShadowRootInit): ShadowRoot {
  const root = HTMLElement.prototype.attachShadow.call(this, options);
  const sheet = new CSSStyleSheet();
  root.adoptedStyleSheets = [sheet];
  const write = (html: string): void => {
    const { content, css } = parseHtml(html);
    sheet.replaceSync(css);
    root.replaceChildren(document.importNode(content, true));
  };
  const querySelectorAll = (selector: string) =>
    selector === OWN_STYLES ? [{ sheet }] : ShadowRoot.prototype.querySelectorAll.call(root, selector);
  Object.defineProperties(root, {
    setHTMLUnsafe: { value: write },
    innerHTML: { set: write },
    querySelectorAll: { value: querySelectorAll },
  });
  return root;
}

/**
 * A nested `<template shadowrootmode>` is dropped: its element creates its own shadow root. Menus enable a
 * style for rows by its attribute `media`; menus of the player are columns, so it stays empty.
 */
function parseHtml(html: string): { content: DocumentFragment; css: string } {
  const { content } = Object.assign(document.createElement('template'), { innerHTML: html });
  const styles = [...content.querySelectorAll<HTMLStyleElement>('style:not([media])')];
  const css = styles.map(({ textContent }) => textContent).join('\n');
  for (const element of [...styles, ...content.querySelectorAll('template[shadowrootmode]')])
    element.remove();
  for (const style of content.querySelectorAll('style'))
    style.replaceWith(Object.assign(document.createElement('template'), { id: style.id }));
  return { content, css };
}
