#!/usr/bin/env node
// Starts the server: compiled in the published package, as TypeScript with Node 24 in the repository.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const source = new URL('../src/main.ts', import.meta.url);

if (!existsSync(source)) await import('../dist/main.js');
else if (process.features.typescript) await runSource();
else runWithNode24();

async function runSource() {
  // Next to the code, so that other users cannot write to it.
  module.enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url)));
  await import(source.href);
}

/** The repository installs Node 24 as a package; the machine's own Node may be older. */
function runWithNode24() {
  const child = spawn(findNode24(), [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => {
    process.exitCode = code ?? 0;
  });
}

function findNode24() {
  const name = `node-${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/node`);
  } catch {
    console.error(
      `mediary-mcp needs Node 24 in this repository; this is ${process.version}. Run npm ci, or install it.`,
    );
    process.exit(1);
  }
}
