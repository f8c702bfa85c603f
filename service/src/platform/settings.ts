// Parses settings from environment variables and collects all problems, so that they are reported together.

export type Environment = Readonly<Record<string, string | undefined>>;

/** Each method reads one setting. For an invalid value it adds to `problems` and returns a fallback. */
export type Settings = {
  readonly problems: string[];
  /** Names of the settings that were read so far. */
  readonly names: ReadonlySet<string>;
  /** An empty value counts as unset. */
  text(name: string): string | undefined;
  /** A secret and its `…_PREVIOUS`, which stays valid during a rotation; the current secret first. */
  rotating(name: string): readonly string[];
  integer(
    name: string,
    range: { readonly fallback: number; readonly min: number; readonly max: number },
  ): number;
  oneOf<const T extends string>(name: string, choices: readonly T[], fallback: T): T;
  /** Comma-separated. */
  list(name: string): readonly string[];
  /** An http or https URL; trailing slashes are removed. */
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
