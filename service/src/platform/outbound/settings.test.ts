// Tests the setting OUTBOUND_ALLOW_PRIVATE.
import { expect, test } from 'vitest';
import { outboundAllowPrivate, outboundWarnings } from './settings.ts';

function read(value?: string) {
  const problems: string[] = [];
  const texts = { given: value || undefined, previous: undefined };
  const allowed = outboundAllowPrivate.parse(texts, (problem) => problems.push(problem));
  return { allowed, problems };
}

test.each([
  [undefined, []],
  ['', []],
  ['import', ['import']],
  ['import, webhooks', ['webhooks', 'import']],
  ['import,import', ['import']],
])('%j allows %j', (value, allowed) => expect(read(value)).toEqual({ allowed, problems: [] }));

test.each(['all', 'import,private', 'IMPORT'])('%s is refused', (value) => {
  expect(read(value).problems).toEqual(['OUTBOUND_ALLOW_PRIVATE may name webhooks and import only']);
});

test('each allowed purpose is warned about', () => {
  expect(outboundWarnings([])).toEqual([]);
  expect(outboundWarnings(['webhooks', 'import'])).toEqual([
    expect.stringContaining('webhooks can reach the private network'),
    expect.stringContaining('import can reach the private network'),
  ]);
});
