// Escapes text for XML and HTML.

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** For text and for attributes in double quotes. */
export const escapeXml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ENTITIES[character] as string);

export const escapeHtml = (text: string): string => escapeXml(text.toWellFormed()).replaceAll("'", '&#39;');
