// Kinds of settings whose values are secrets.
import type { Setting } from '../platform/settings/setting.ts';
import { type Secret, toSecret } from './secret.ts';

export const secret = (name: string, about: string, byDefault: string): Setting<Secret | undefined> => ({
  name,
  type: 'secret',
  about,
  byDefault,
  parse: ({ given }) => (given === undefined ? undefined : toSecret(given)),
});

/** The current secret first, then the one that stays valid during a rotation. */
export const rotatedSecret = (
  name: string,
  about: string,
  byDefault: string,
): Setting<readonly Secret[]> => ({
  name,
  type: 'secret',
  about,
  byDefault,
  isRotated: true,
  parse: ({ given, previous }) => [given, previous].filter((value) => value !== undefined).map(toSecret),
});
