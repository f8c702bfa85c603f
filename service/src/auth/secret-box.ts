// Encrypts secrets that the database stores, with a key derived from URL_SIGNING_SECRET (AES-256-GCM).
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type Secret, toSecret } from './secret.ts';
import { deriveKey, type Purpose } from './signed-token.ts';

/** `context` binds a box to its row, so that it cannot be decrypted in another one. */
type BoxScope = { readonly roots: readonly Secret[]; readonly purpose: Purpose; readonly context: string };

type OpenedBox = {
  readonly secret: Secret;
  /** False: encrypted with a previous root, which will not be available for ever. */
  readonly isCurrent: boolean;
};

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The result contains nonce, tag and ciphertext. */
export function sealSecret({ roots, purpose, context }: BoxScope, secret: Secret): Buffer {
  const [root] = roots;
  if (!root) throw new Error('no URL signing secret');
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, keyOf(root, purpose), nonce).setAAD(Buffer.from(context));
  const encrypted = Buffer.concat([cipher.update(secret.reveal(), 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

/** Undefined when no root decrypts the box. */
export function openSecret({ roots, purpose, context }: BoxScope, box: Buffer): OpenedBox | undefined {
  for (const [index, root] of roots.entries()) {
    const text = decrypt(keyOf(root, purpose), context, box);
    if (text !== undefined) return { secret: toSecret(text), isCurrent: index === 0 };
  }
  return undefined;
}

function decrypt(key: Buffer, context: string, box: Buffer): string | undefined {
  const nonce = box.subarray(0, NONCE_BYTES);
  const tag = box.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  if (tag.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag);
  const encrypted = box.subarray(NONCE_BYTES + TAG_BYTES);
  try {
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8');
  } catch {
    // Another key, another context, or an altered box.
    return undefined;
  }
}

const keyOf = (root: Secret, purpose: Purpose): Buffer =>
  Buffer.from(deriveKey(root, purpose).reveal(), 'base64url');
