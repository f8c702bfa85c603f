// Refuses a Node that cannot run TypeScript, in words, before any .ts file is loaded; what is compiled once is kept for the next start.
import module from 'node:module';
import { resolve } from 'node:path';

const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(`Mediary needs Node 24 or newer; this is ${process.version} (${process.execPath}).`);
  process.exit(1);
}
// Beside the code, which nobody else may write; where it cannot be kept, it is compiled anew.
module.enableCompileCache(resolve(import.meta.dirname, '../node_modules/.cache/compiled'));
await import('./src/main.ts');
