// Finds settings that look like ours and are not: a misspelt name would otherwise be ignored without a word.
import type { Environment } from './settings.ts';

type Known = {
  /** Names that the service reads. */
  readonly names: ReadonlySet<string>;
  /** Every setting that starts like this is ours, such as `MEDIARY_`. */
  readonly prefixes: readonly string[];
};

/** Read by tests, benchmarks and simulators, which may share an environment with the service. */
const OTHER_PROGRAMS = /^(?:MEDIARY_(?:TEST|SCALE|SEED|SHOW)\w*|(?:CDN|EDGE)HOST_PORT)$/;
/** Short names, such as HOST, resemble too many foreign ones. */
const SHORTEST_COMPARED = 8;
const MAX_EDITS = 2;

/** One warning for each unknown name. Values are not shown: they may be secrets. */
export const unknownSettingWarnings = (environment: Environment, { names, prefixes }: Known): string[] =>
  Object.entries(environment)
    .filter(([name, value]) => value?.trim() && !names.has(name) && !OTHER_PROGRAMS.test(name))
    .flatMap(([name]) => {
      const closest = closestName(name, names);
      const isOurs = prefixes.some((prefix) => name.startsWith(prefix));
      if (!isOurs && closest === undefined) return [];
      const hint = closest === undefined ? '' : ` Did you mean ${closest}?`;
      return [`${name} is not a setting of this release and is ignored.${hint}`];
    });

function closestName(name: string, names: ReadonlySet<string>): string | undefined {
  if (name.length < SHORTEST_COMPARED) return undefined;
  const ranked = [...names]
    .filter((known) => known.length >= SHORTEST_COMPARED && Math.abs(known.length - name.length) <= MAX_EDITS)
    .map((known) => ({ known, edits: editDistance(name.toUpperCase(), known) }))
    .filter(({ edits }) => edits <= MAX_EDITS)
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.known;
}

/** Levenshtein distance: insertions, deletions and replacements of single characters. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
