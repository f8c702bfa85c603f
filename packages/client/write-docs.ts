// Writes docs/reference from the operations of the contract and the calls of the SDK: part of `npm run docs`.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderReference } from '@mediary/contract/reference/reference';
import { findSdkCall } from './src/calls/operation-calls.ts';

const FOLDER = join(import.meta.dirname, '../../docs/reference');

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
for (const [name, text] of renderReference(findSdkCall)) writeFileSync(join(FOLDER, name), text);
