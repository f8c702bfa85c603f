// Settings as data: name, type, default and meaning of an environment variable. Validation, docs/settings.md
// and the list of the command line come from them.

type SettingType = 'integer' | 'text' | 'choice' | 'list' | 'url' | 'secret' | 'rate' | 'json';

/** The texts of a setting, without surrounding white space. An empty value counts as unset. */
type GivenTexts = { readonly given: string | undefined; readonly previous: string | undefined };

export type Setting<T = unknown> = {
  readonly name: string;
  readonly type: SettingType;
  /** One sentence for operators, in Markdown. Links start at the folder of the documentation. */
  readonly about: string;
  /** The default as operators would write it, or in words. */
  readonly byDefault: string;
  /** In words, for documentation; undefined: the sentence says it. */
  readonly allowed?: string;
  /** The variable `…_PREVIOUS` holds the value that stays valid during a rotation. */
  readonly isRotated?: true;
  /** Reports what is wrong with an invalid value, and returns one that the service can go on with. */
  readonly parse: (texts: GivenTexts, report: (problem: string) => void) => T;
};

/** Settings by the members of the value that is read. */
export type SettingTree = { readonly [member: string]: Setting | SettingTree };

export type SettingGroup<T extends SettingTree = SettingTree> = {
  /** A heading of the documentation; groups of the same title are shown together. */
  readonly title: string;
  readonly settings: T;
};

export type Values<T extends SettingTree> = {
  readonly [K in keyof T]: T[K] extends Setting<infer V>
    ? V
    : T[K] extends SettingTree
      ? Values<T[K]>
      : never;
};

export const isSetting = (node: Setting | SettingTree): node is Setting =>
  typeof node['parse'] === 'function';

/** All settings of a tree, in their order. */
export const listSettings = (tree: SettingTree): Setting[] =>
  Object.values(tree).flatMap((node) => (isSetting(node) ? [node] : listSettings(node)));

type Report = (problem: string) => void;
type Range = { readonly min: number; readonly max: number };

const describeRange = ({ min, max }: Range): string =>
  max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`;

/** Undefined for an invalid number, which is reported. */
const numberReader =
  (name: string, { min, max }: Range) =>
  (given: string, report: Report): number | undefined => {
    const value = Number(given);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    report(`${name} must be a whole number from ${min} to ${max}`);
    return undefined;
  };

/** `scale`: what the number is multiplied by, such as 1000 for a time in ms. */
type IntegerOptions = Range & { readonly fallback: number; readonly scale?: number };

export function integer(name: string, about: string, options: IntegerOptions): Setting<number> {
  const { fallback, scale = 1 } = options;
  const read = numberReader(name, options);
  return {
    name,
    type: 'integer',
    about,
    byDefault: String(fallback),
    allowed: describeRange(options),
    parse: ({ given }, report) =>
      scale * ((given === undefined ? undefined : read(given, report)) ?? fallback),
  };
}

/** `byDefault`: what happens without it, in words. */
type OptionalIntegerOptions = Range & { readonly byDefault: string };

export function optionalInteger(
  name: string,
  about: string,
  options: OptionalIntegerOptions,
): Setting<number | undefined> {
  const read = numberReader(name, options);
  return {
    name,
    type: 'integer',
    about,
    byDefault: options.byDefault,
    allowed: describeRange(options),
    parse: ({ given }, report) => (given === undefined ? undefined : (read(given, report) ?? options.min)),
  };
}

type ChoiceOptions<T extends string> = { readonly choices: readonly T[]; readonly fallback: T };

export const choice = <const T extends string>(
  name: string,
  about: string,
  { choices, fallback }: ChoiceOptions<T>,
): Setting<T> => ({
  name,
  type: 'choice',
  about,
  byDefault: fallback,
  allowed: choices.join(', '),
  parse: ({ given = fallback }, report) => {
    const chosen = choices.find((each) => each === given);
    if (chosen === undefined) report(`${name} must be one of ${choices.join(', ')}`);
    return chosen ?? fallback;
  },
});

export const text = (name: string, about: string, fallback: string): Setting<string> => ({
  name,
  type: 'text',
  about,
  byDefault: fallback,
  parse: ({ given = fallback }) => given,
});

export const optionalText = (
  name: string,
  about: string,
  byDefault: string,
): Setting<string | undefined> => ({ name, type: 'text', about, byDefault, parse: ({ given }) => given });

const WEB_URL = /^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/;

/** An http or https URL; trailing slashes are removed. */
export const url = (name: string, about: string, byDefault: string): Setting<string | undefined> => ({
  name,
  type: 'url',
  about,
  byDefault,
  parse: ({ given }, report) => {
    if (given === undefined) return undefined;
    if (!WEB_URL.test(given) || !URL.canParse(given))
      report(`${name} must be an http or https URL without query or user name`);
    return given.replace(/\/+$/, '');
  },
});

/** `parse` gets no items where the setting is unset. */
type ListOptions<T> = {
  readonly byDefault: string;
  readonly allowed?: string;
  readonly parse: (items: readonly string[], report: Report) => T;
};

/** Comma-separated. */
export const list = <T>(name: string, about: string, { parse, ...options }: ListOptions<T>): Setting<T> => ({
  name,
  type: 'list',
  about,
  ...options,
  parse: ({ given = '' }, report) =>
    parse(
      given
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean),
      report,
    ),
});

const RATE = /^(\d{1,7})\/(\d{0,5})(s|m|h)$/;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const MAX_WINDOW_S = 86_400;

export type RateLimit = { readonly limit: number; readonly windowSeconds: number };

/** Such as `100/10s` or `1000/m`; undefined: no limit. */
export const rate = (name: string, about: string): Setting<RateLimit | undefined> => ({
  name,
  type: 'rate',
  about,
  byDefault: 'no limit',
  allowed: 'requests per time of at most 24h, such as `100/10s` or `1000/m`',
  parse: ({ given }, report) => {
    if (given === undefined) return undefined;
    const [, count, units, unit = ''] = RATE.exec(given) ?? [];
    const limit = Number(count);
    const windowSeconds = (units === '' ? 1 : Number(units)) * (UNIT_SECONDS[unit] ?? Number.NaN);
    if (limit >= 1 && windowSeconds >= 1 && windowSeconds <= MAX_WINDOW_S) return { limit, windowSeconds };
    report(`${name} must be a number of requests per time of at most 24h, such as 100/10s or 1000/m`);
    return undefined;
  },
});
