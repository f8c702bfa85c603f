// Writes a Content-Disposition header for any Unicode file name (RFC 6266, RFC 8187).

const ATTR_CHAR = /[A-Za-z0-9!#$&+.^_`|~-]/;

/** `attachment` with an ASCII stand-in and the exact name; the name cannot leave its quotes or its line. */
export function attachment(filename: string): string {
  const plain = filename.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[^\x20-\x7e]|["\\%/]/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encode(filename)}`;
}

const encode = (text: string): string =>
  [...Buffer.from(text.toWellFormed())].map((byte) => escapeByte(byte)).join('');

function escapeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  return byte < 0x80 && ATTR_CHAR.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
