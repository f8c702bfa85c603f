// The sample events of `mediary trigger` fit the schema of events.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { PUBLISHED_EVENT_TYPES } from './enums.ts';
import { renderSampleEvents } from './sample-events.ts';
import { EventMessage } from './schemas/events.ts';

const samples: readonly { readonly description: string; readonly event: { readonly type: string } }[] =
  JSON.parse(renderSampleEvents());

test('every published type has a sample that fits its schema, and a sentence', () => {
  expect(samples.map(({ event }) => event.type)).toEqual(PUBLISHED_EVENT_TYPES);
  const schema = Compile(EventMessage);
  for (const { description, event } of samples) {
    expect([event.type, ...schema.Errors(event)]).toEqual([event.type]);
    expect(description).toMatch(/^[A-Z].*\.$/);
  }
});

test('packages/cli/src/events/sample-events.json is current (npm run docs writes it)', () => {
  const file = join(import.meta.dirname, '../../cli/src/events/sample-events.json');
  expect(readFileSync(file, 'utf8')).toBe(renderSampleEvents());
});
