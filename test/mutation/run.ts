// Mutation tests, scope by scope: `npm run test:mutation [-- SCOPE…]`. Fails if a scope is below MIN_SCORE.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const STRYKER = join(import.meta.dirname, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const REPORT = join(ROOT, '.stryker/mutation.json');
const MIN_SCORE = 90;

/** Folder of service/src → files to mutate. Only rules: mutants in child processes are never active. */
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  auth: ['!(*.hook).ts'],
  lifecycle: [
    'decisions/transitions.ts',
    'decisions/decide.ts',
    'decisions/decide-commands.ts',
    'decisions/stream-state.ts',
    'decisions/report-events.ts',
    'decisions/cancellation.ts',
    'decisions/reconcile-schedule.ts',
  ],
  providers: [
    'circuit.ts',
    'shared/hosted-settings.ts',
    'inspections.ts',
    '*/*-signature.ts',
    '*/*-signatures.ts',
    '*/*-report.ts',
    '*/*-video.ts',
    '*/*-upload.ts',
  ],
  uploads: ['content-check.ts', 'upload-request.ts', 'original/stored-upload.ts', 'retry.ts'],
  library: ['asset-filter.ts', 'asset-edits.ts', 'if-match.ts', 'trash.ts'],
  encoding: ['plan/*.ts'],
  images: [
    'heif.worker.ts',
    'render-image.worker.ts',
    'image-source.ts',
    'image-variant.ts',
    'variant-substitute.ts',
  ],
  playback: ['playback-token.ts', 'served-file.ts'],
  storage: ['object-key.ts', 'byte-range.ts'],
  platform: [
    'outbound/private-address.ts',
    'settings/read-settings.ts',
    'settings/unknown-settings.ts',
    'values/uuid-v7.ts',
    'http/limits/client-address.ts',
    'http/headers.ts',
    'http/validation.ts',
  ],
};

type MutantStatus =
  | 'Killed'
  | 'Timeout'
  | 'Survived'
  | 'NoCoverage'
  | 'CompileError'
  | 'RuntimeError'
  | 'Ignored';
type Mutant = { readonly status: MutantStatus; readonly statusReason?: string };
type Report = {
  readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>;
};
type Score = { readonly scope: string; readonly killed: number; readonly total: number };

const patternsOf = (scope: string): readonly string[] =>
  (SCOPES[scope] ?? []).map((file) => `service/src/${scope}/${file}`);

/** Stryker ignores a pattern without a match, so a renamed file would leave its scope unnoticed. */
function checkPatterns(): void {
  const unmatched = Object.keys(SCOPES)
    .flatMap(patternsOf)
    .filter((pattern) => globSync(pattern, { cwd: ROOT }).length === 0);
  if (unmatched.length > 0) throw new Error(`No file matches ${unmatched.join(', ')}. Correct SCOPES.`);
}

function runScope(scope: string): Score {
  const mutate = [...patternsOf(scope), '!**/*.test.ts', '!**/*.fixture.ts'].join(',');
  const { status } = spawnSync(
    process.execPath,
    [STRYKER, 'run', 'test/mutation/stryker.json', '--mutate', mutate],
    { cwd: ROOT, env: { ...process.env, MUTATION_SCOPE: scope }, stdio: 'inherit' },
  );
  if (status !== 0) throw new Error(`Stryker failed in the scope "${scope}".`);
  return { scope, ...countMutants(JSON.parse(readFileSync(REPORT, 'utf8'))) };
}

/** Stryker counts these as errors of the mutants, which would leave them out of the score. */
const BROKEN_WORKER = '[vitest-pool]';

function countMutants({ files }: Report): Pick<Score, 'killed' | 'total'> {
  const all = Object.values(files).flatMap(({ mutants }) => mutants);
  if (all.some(({ statusReason = '' }) => statusReason.includes(BROKEN_WORKER)))
    throw new Error('The test worker broke, so the remaining mutants were not tested. Run the scope again.');
  const statuses = all.map(({ status }) => status);
  const count = (...counted: readonly MutantStatus[]) =>
    statuses.filter((status) => counted.includes(status)).length;
  const killed = count('Killed', 'Timeout');
  return { killed, total: killed + count('Survived', 'NoCoverage') };
}

const percent = ({ killed, total }: Score): number => (100 * killed) / total;

const named = process.argv.slice(2);
const unknown = named.find((scope) => !(scope in SCOPES));
if (unknown) throw new Error(`Unknown scope "${unknown}". Scopes: ${Object.keys(SCOPES).join(', ')}.`);
checkPatterns();

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const scores = (named.length > 0 ? named : Object.keys(SCOPES)).map(runScope);
for (const score of scores)
  console.log(
    `${score.scope}: ${score.killed} of ${score.total} mutants killed, ${percent(score).toFixed(1)} %`,
  );
const tooLow = scores.filter((score) => !(percent(score) >= MIN_SCORE));
if (tooLow.length > 0) {
  console.error(`Below ${MIN_SCORE} %: ${tooLow.map(({ scope }) => scope).join(', ')}.`);
  process.exitCode = 1;
}
