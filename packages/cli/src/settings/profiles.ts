// The profile file: named URLs with their credentials.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { usageError } from '../exit-codes.ts';
import { readPrivateFile, writePrivateFile } from './private-file.ts';

export type Profile = {
  readonly url: string;
  readonly token?: string;
  readonly service_key?: string;
  readonly operator_key?: string;
  readonly owner?: string;
};

export type ProfileFile = {
  readonly current: string | undefined;
  readonly profiles: Readonly<Record<string, Profile>>;
};

type Environment = Readonly<Record<string, string | undefined>>;

const SECRET_MEMBERS = ['token', 'service_key', 'operator_key', 'owner'] as const;

export function findProfilePath(env: Environment): string {
  const base = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config');
  return join(base, 'mediary', 'config.json');
}

export async function readProfiles(path: string): Promise<ProfileFile> {
  const text = await readPrivateFile(path);
  if (text === undefined) return { current: undefined, profiles: {} };
  try {
    return parseProfiles(parseJson(text));
  } catch (error) {
    throw usageError(`${path} is invalid: ${error instanceof Error ? error.message : error}`);
  }
}

/** The error of JSON.parse quotes the text, which holds secrets. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the file is not JSON');
  }
}

function parseProfiles(value: unknown): ProfileFile {
  const { current, profiles = {} } = toRecord(value, 'the file');
  const entries = Object.entries(toRecord(profiles, 'profiles'));
  return {
    current: typeof current === 'string' ? current : undefined,
    profiles: Object.fromEntries(entries.map(([name, profile]) => [name, parseProfile(name, profile)])),
  };
}

function parseProfile(name: string, value: unknown): Profile {
  const { url, ...rest } = toRecord(value, `profile "${name}"`);
  if (typeof url !== 'string') throw new Error(`profile "${name}" has no url`);
  const members = SECRET_MEMBERS.flatMap((member) => {
    const text = rest[member];
    return typeof text === 'string' ? [[member, text] as const] : [];
  });
  return { url, ...Object.fromEntries(members) };
}

function toRecord(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${what} is not an object`);
  return value as Record<string, unknown>;
}

/** The named profile, else the current one. A name that does not exist is an error. */
export function chooseProfile(
  file: ProfileFile,
  name: string | undefined,
): { readonly name: string; readonly profile: Profile } | undefined {
  const chosen = name ?? file.current;
  if (chosen === undefined) return undefined;
  const profile = Object.hasOwn(file.profiles, chosen) ? file.profiles[chosen] : undefined;
  if (profile) return { name: chosen, profile };
  const known = Object.keys(file.profiles).join(', ') || 'none';
  throw usageError(
    `There is no profile "${chosen}". Profiles: ${known}.`,
    'Create one: mediary config login',
  );
}

export const writeProfiles = (path: string, file: ProfileFile): Promise<void> =>
  writePrivateFile(path, `${JSON.stringify(file, null, 2)}\n`);
