// Warns about unknown settings with a prefix of the service or a similar name, because they are probably
// misspelt.
import type { Environment } from './read-settings.ts';

type KnownSettings = {
  /** Names that the service reads. */
  readonly names: ReadonlySet<string>;
  /** Every setting with one of these prefixes belongs to the service, such as `MEDIARY_`. */
  readonly prefixes: readonly string[];
};

/** Read by tests, benchmarks and simulators, which may share an environment with the service. */
const OTHER_PROGRAMS = /^(?:MEDIARY_(?:TEST|SCALE|SEED|SHOW)\w*|(?:CDN|EDGE)HOST_PORT)$/;
/** Shorter names, such as HOST, resemble too many variables of other programs. */
const MIN_COMPARED_LENGTH = 8;
const MAX_EDITS = 2;

/** One warning for each unknown name. Values are not shown: they may be secrets. */
export const unknownSettingWarnings = (
  environment: Environment,
  { names, prefixes }: KnownSettings,
): string[] =>
  Object.entries(environment)
    .filter(([name, value]) => value?.trim() && !names.has(name) && !OTHER_PROGRAMS.test(name))
    .flatMap(([name]) => {
      const closest = closestName(name, names);
      const hasKnownPrefix = prefixes.some((prefix) => name.startsWith(prefix));
      if (!hasKnownPrefix && closest === undefined) return [];
      const hint = closest === undefined ? '' : ` Did you mean ${closest}?`;
      return [`${name} is not a setting of this release and is ignored.${hint}`];
    });

function closestName(name: string, names: ReadonlySet<string>): string | undefined {
  if (name.length < MIN_COMPARED_LENGTH) return undefined;
  const ranked = [...names]
    .filter((known) => known.length >= MIN_COMPARED_LENGTH)
    .filter((known) => Math.abs(known.length - name.length) <= MAX_EDITS)
    .map((known) => ({ known, edits: editDistance(name.toUpperCase(), known) }))
    .filter(({ edits }) => edits <= MAX_EDITS)
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.known;
}

/** Levenshtein distance: insertions, deletions and replacements of single characters. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column++) {
      const replacement = (row[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1);
      const insertion = (row[column] ?? 0) + 1;
      const deletion = (next[column - 1] ?? 0) + 1;
      next.push(Math.min(replacement, insertion, deletion));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
