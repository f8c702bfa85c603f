// Writes the pages of docs/ that are generated from the contract: `npm run docs`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderErrorCatalogue } from './src/error-catalogue.ts';

writeFileSync(join(import.meta.dirname, '../../docs/errors.md'), renderErrorCatalogue());
