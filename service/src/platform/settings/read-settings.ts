// Reads settings from environment variables and collects all problems, so that they are reported together.
import {
  isSetting,
  listSettings,
  type Setting,
  type SettingGroup,
  type SettingTree,
  type Values,
} from './setting.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Settings = {
  /** Each names its setting, and what is allowed. */
  readonly problems: string[];
  /** The groups that were read so far. */
  readonly groups: readonly SettingGroup[];
  /** Adds to `problems` for each invalid value. */
  read<T extends SettingTree>(group: SettingGroup<T>): Values<T>;
  /** The text of one variable; an empty value counts as unset. */
  text(name: string): string | undefined;
};

export function createSettings(environment: Environment): Settings {
  const problems: string[] = [];
  const groups: SettingGroup[] = [];
  const text = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const parse = ({ name, isRotated, parse: parseTexts }: Setting): unknown =>
    parseTexts({ given: text(name), previous: isRotated ? text(previousName(name)) : undefined }, (problem) =>
      problems.push(problem),
    );
  const readTree = (tree: SettingTree): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(tree).map(([member, node]) => [member, isSetting(node) ? parse(node) : readTree(node)]),
    );
  return {
    problems,
    groups,
    text,
    read: <T extends SettingTree>(group: SettingGroup<T>) => {
      groups.push(group);
      return readTree(group.settings) as Values<T>;
    },
  };
}

/** Throws with one message that names every problem. */
export function assertNoProblems(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new Error(`Invalid settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
}

const previousName = (name: string): string => `${name}_PREVIOUS`;

/** The names of all variables that the groups consist of. */
export const namesOf = (groups: readonly SettingGroup[]): ReadonlySet<string> =>
  new Set(
    groups
      .flatMap(({ settings }) => listSettings(settings))
      .flatMap(({ name, isRotated }) => (isRotated ? [name, previousName(name)] : [name])),
  );
