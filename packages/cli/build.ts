// Builds the package that is published, as JavaScript: `npm run build -w @mediary/cli`, then
// `npm pack ./packages/cli/dist`. Inside the repository the sources run as they are.
import { join } from 'node:path';
import { buildCommand } from '../../deploy/release/build-command.ts';

const from = import.meta.dirname;
await buildCommand({ from, to: process.argv[2] ?? join(from, 'dist'), bin: 'mediary.js' });
