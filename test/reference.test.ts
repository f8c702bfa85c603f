// The pages of docs/reference: current, complete, and their TypeScript sends what the operation expects.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMediary, type MediaryOptions } from '@mediary/client';
import { OPERATIONS } from '@mediary/contract/operations';
import { renderReference } from '@mediary/contract/reference/reference';
import Value from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { findSdkCall } from '../packages/client/src/calls/operation-calls.ts';
import {
  describeExpected,
  describeSent,
  readExamplePages,
  type ReferenceExample,
  type SentRequest,
  toPathPattern,
} from './support/http/reference-examples.ts';

const FOLDER = join(import.meta.dirname, '../docs/reference');
const pages = readExamplePages();
const examples = pages.flatMap((page) => page.examples.map((example) => ({ ...example, page })));
const cases = examples.map((example) => [example.operation.id, example] as const);

test('docs/reference is current (npm run docs writes it)', () => {
  const written = readdirSync(FOLDER).map(
    (name) => [name, readFileSync(join(FOLDER, name), 'utf8')] as const,
  );
  expect(new Map(written)).toEqual(new Map([...renderReference(findSdkCall)].sort()));
});

test('every operation is on one page', () => {
  expect(examples.map(({ operation }) => operation.id).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
});

/** Ends a program at its first output, because streams have no end. */
class ProgramStopped extends Error {}

type Fetch = typeof globalThis.fetch;
type Program = (names: object) => Promise<void>;
const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
  ...source: string[]
) => Program;

/** Runs setup and example as one program, whose requests are answered with the example of the operation. */
async function runProgram(
  { operation, program }: ReferenceExample,
  setup: string,
): Promise<readonly SentRequest[]> {
  const sent: SentRequest[] = [];
  const fetch: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const { method, url, headers } = request;
    sent.push({ method, url, headers, body: await request.text() });
    return toResponse(operation);
  };
  const names = {
    createMediary: (options: MediaryOptions) => createMediary({ ...options, fetch, maxRetries: 0 }),
    openAsBlob: async (path: string) => new Blob([path]),
    fetch,
    console: {
      log: () => {
        throw new ProgramStopped();
      },
    },
  };
  const source = `${setup.replaceAll(/^import .*$/gm, '')}\n${program}`;
  const run = new AsyncFunction(`{ ${Object.keys(names).join(', ')} }`, source);
  await run(names).catch((error: unknown) => {
    if (!(error instanceof ProgramStopped)) throw error;
  });
  return sent;
}

function toResponse(operation: ReferenceExample['operation']): Response {
  const { event } = (operation.kind === 'bytes' && operation.response) || {};
  if (event)
    return new Response(`id: 1\ndata: ${JSON.stringify(event.example)}\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    });
  return Response.json({ success: true, data: operation.example ?? {} });
}

describe('the TypeScript of', () => {
  test.each(cases)('%s sends its request', async (_id, example) => {
    const sent = await runProgram(example, example.page.setup.program);
    expect(sent.map(describeSent)).toEqual([describeExpected(example.expected)]);
    expect(new URL(sent[0]?.url ?? '').pathname).toMatch(toPathPattern(example.operation));
  });

  test.each(cases.filter(([id]) => findSdkCall(id)))('%s calls the SDK', (id, { program }) => {
    expect(program).toContain(`.${findSdkCall(id)?.name}(`);
  });
});

test('the bodies of the examples are valid', () => {
  const invalid = examples.flatMap(({ operation, expected }) => {
    const schema = operation.kind === 'json' ? operation.body : undefined;
    return schema && expected.body ? [...Value.Errors(schema, expected.body)].map(() => operation.id) : [];
  });
  expect(invalid).toEqual([]);
  expect(examples.filter(({ expected }) => expected.body).length).toBeGreaterThan(15);
});
