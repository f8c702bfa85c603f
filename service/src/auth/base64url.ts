// One text per byte string: base64url as RFC 4648 §5 writes it, with every other spelling of the same bytes refused.

export const toBase64url = (bytes: Buffer): string => bytes.toString('base64url');

/** Undefined for padding, other alphabets, white space, impossible lengths and unused bits that are set. */
export function fromBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return toBase64url(bytes) === text ? bytes : undefined;
}
