// Canonical base64url (RFC 4648 §5): each byte string has exactly one valid encoding.

export const toBase64url = (bytes: Buffer): string => bytes.toString('base64url');

/** Undefined for padding, other alphabets, white space, invalid lengths and non-zero unused bits. */
export function fromBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return toBase64url(bytes) === text ? bytes : undefined;
}
