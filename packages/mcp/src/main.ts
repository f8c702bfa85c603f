// The process: reads flags and environment, and speaks the protocol on stdin and stdout.
import { readFileSync } from 'node:fs';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createMcpServer } from './server.ts';
import { type McpSettings, readSettings, SettingsError, USAGE } from './settings.ts';

const readVersion = (): string =>
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

async function run(): Promise<void> {
  const settings = readSettings(process);
  if (settings === 'help') process.stdout.write(USAGE);
  else if (settings === 'version') process.stdout.write(`${readVersion()}\n`);
  else await serve(settings);
}

/** The process ends by itself after the client has closed stdin. */
async function serve(settings: McpSettings): Promise<void> {
  const version = readVersion();
  // The client has gone, and nobody reads what is left.
  process.stdout.on('error', () => process.exit(0));
  await createMcpServer(settings, version).connect(new StdioServerTransport());
  const access = settings.canWrite ? `writes, and uploads from ${settings.root}` : 'reads only';
  process.stderr.write(`mediary-mcp ${version} for ${settings.url}: ${access}\n`);
}

try {
  await run();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`mediary-mcp: ${error.message}\n`);
  process.exitCode = 2;
}
