// Named service keys: their form, and what they allow (contract A4).
import { hash, randomBytes } from 'node:crypto';
import type { ServiceScope } from '@mediary/contract/enums';

export type ServiceKeyGrant = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly ServiceScope[];
  /** The start of the ids of the owners that the key is limited to; empty: all owners. */
  readonly ownerPrefixes: readonly string[];
};

const NAMED_KEY = /^msk_[\w-]{43}$/;
const KEY_BYTES = 32;

export const isNamedKey = (text: string): boolean => NAMED_KEY.test(text);

export const createNamedKey = (): string => `msk_${randomBytes(KEY_BYTES).toString('base64url')}`;

/** In hex. A key has 256 random bits, so that a slow hash would not protect it better. */
export const digestOfKey = (key: string): string => hash('sha256', key);
