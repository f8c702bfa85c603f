// Formats Content-Disposition headers for any Unicode file name (RFC 6266, RFC 8187).

const ATTR_CHAR = /[A-Za-z0-9!#$&+.^_`|~-]/;

/** Contains an ASCII fallback and the exact name. The name is escaped, so it cannot inject quotes or header lines. */
export const attachment = (filename: string): string => `attachment; ${formatName(filename)}`;
export const inline = (filename: string): string => `inline; ${formatName(filename)}`;

function formatName(filename: string): string {
  const plain = filename
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]|["\\%/]/g, '_');
  return `filename="${plain}"; filename*=UTF-8''${encode(filename)}`;
}

const encode = (text: string): string =>
  [...Buffer.from(text.toWellFormed())].map((byte) => escapeByte(byte)).join('');

function escapeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return byte < 0x80 && ATTR_CHAR.test(character)
    ? character
    : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
