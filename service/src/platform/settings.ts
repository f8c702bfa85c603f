// Reads settings out of the environment's text: every problem is noted under its setting's name, and all are told at once.

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads one setting each; what is wrong goes to `problems` and a harmless value comes back. */
export type Settings = {
  readonly problems: string[];
  /** Names of the settings that were read so far. */
  readonly names: ReadonlySet<string>;
  /** Unset and empty are the same. */
  text(name: string): string | undefined;
  /** A secret and its `…_PREVIOUS`, which is accepted too while it is rotated; current first. */
  rotating(name: string): readonly string[];
  integer(
    name: string,
    range: { readonly fallback: number; readonly min: number; readonly max: number },
  ): number;
  oneOf<const T extends string>(name: string, choices: readonly T[], fallback: T): T;
  /** Comma-separated. */
  list(name: string): readonly string[];
  /** http or https without a slash at its end. */
  url(name: string): string | undefined;
};

export function createSettings(environment: Environment): Settings {
  const problems: string[] = [];
  const names = new Set<string>();
  const text = (name: string) => {
    names.add(name);
    return environment[name]?.trim() || undefined;
  };
  return {
    problems,
    names,
    text,
    rotating: (name) => [text(name), text(`${name}_PREVIOUS`)].filter((value) => value !== undefined),
    integer(name, { fallback, min, max }) {
      const given = text(name);
      const value = given === undefined ? fallback : Number(given);
      if (Number.isInteger(value) && value >= min && value <= max) return value;
      problems.push(`${name} must be a whole number from ${min} to ${max}`);
      return fallback;
    },
    oneOf(name, choices, fallback) {
      const given = text(name) ?? fallback;
      const chosen = choices.find((choice) => choice === given);
      if (chosen === undefined) problems.push(`${name} must be one of ${choices.join(', ')}`);
      return chosen ?? fallback;
    },
    list: (name) =>
      (text(name) ?? '')
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean),
    url(name) {
      const given = text(name);
      if (given === undefined) return undefined;
      if (!/^https?:\/\/[^/?#@]+(?:\/[^?#]*)?$/.test(given) || !URL.canParse(given))
        problems.push(`${name} must be an http or https URL without query or user name`);
      return given.replace(/\/+$/, '');
    },
  };
}
