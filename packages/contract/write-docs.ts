// Writes what is generated from the contract, pages of docs/, types of packages/client and samples of
// packages/cli: `npm run docs`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderClientTypes } from './src/client-types/client-types.ts';
import { renderErrorCatalogue } from './src/error-catalogue.ts';
import { renderSampleEvents } from './src/sample-events.ts';

const ROOT = join(import.meta.dirname, '../..');

writeFileSync(join(ROOT, 'docs/errors.md'), renderErrorCatalogue());
writeFileSync(join(ROOT, 'packages/cli/src/events/sample-events.json'), renderSampleEvents());
const folder = join(ROOT, 'packages/client/src/api');
mkdirSync(folder, { recursive: true });
for (const [name, text] of renderClientTypes()) writeFileSync(join(folder, name), text);
