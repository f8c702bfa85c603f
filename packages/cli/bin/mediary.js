#!/usr/bin/env node
// Starts the command: compiled in the published package, as TypeScript with Node 24 in the repository.
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
  // A terminal signals the whole group; other senders signal this process alone.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
}

function findNode24() {
  const name = `node-${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/node`);
  } catch {
    console.error(
      `mediary needs Node 24 in this repository; this is ${process.version}. Run npm ci, or install Node 24.`,
    );
    process.exit(1);
  }
}
