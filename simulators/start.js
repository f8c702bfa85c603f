// Refuses a Node that cannot run TypeScript, in words, before any .ts file is loaded.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(`The simulators need Node 24 or newer; this is ${process.version} (${process.execPath}).`);
  process.exit(1);
}
await import('./main.ts');
