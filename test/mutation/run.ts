// Mutation tests of the rules, one scope after the other: `npm run test:mutation [SCOPE…]`. Survivors are judged in survivors.md.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const STRYKER = join(import.meta.dirname, 'node_modules/@stryker-mutator/core/bin/stryker.js');

/** Scope → files to mutate. A mutant of a module constant runs all tests of its scope, hence the small scopes. */
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  auth: ['*.ts'],
  lifecycle: ['transitions.ts', 'decide.ts', 'cancellation.ts', 'reconcile-schedule.ts'],
  providers: ['circuit.ts', '*/*-signature.ts', '*/*-report.ts', '*/*-token.ts', '*/*-video.ts'],
  uploads: ['content-check.ts', 'upload-request.ts'],
  library: ['asset-filter.ts'],
};

const named = process.argv.slice(2);
const unknown = named.find((scope) => !(scope in SCOPES));
if (unknown) throw new Error(`Unknown scope "${unknown}". Scopes: ${Object.keys(SCOPES).join(', ')}.`);

for (const scope of named.length > 0 ? named : Object.keys(SCOPES)) {
  const files = (SCOPES[scope] ?? []).map((file) => `service/src/${scope}/${file}`);
  const mutate = [...files, '!**/*.test.ts', '!**/*.fixture.ts'].join(',');
  execFileSync(process.execPath, [STRYKER, 'run', 'test/mutation/stryker.json', '--mutate', mutate], {
    cwd: ROOT,
    env: { ...process.env, MUTATION_SCOPE: scope },
    stdio: 'inherit',
  });
}
