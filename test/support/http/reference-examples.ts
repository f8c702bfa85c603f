// The examples of docs/reference as readers see them, each with the operation that it calls.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation } from '@mediary/contract/operation';
import { OPERATIONS } from '@mediary/contract/operations';
import { buildExampleRequest, type ExampleRequest } from '@mediary/contract/reference/request-example';

const ROOT = join(import.meta.dirname, '../../..');

/** `curl` and `program`: the text of the two tabs. */
type Tabs = { readonly curl: string; readonly program: string };

export type ReferenceExample = Tabs & {
  readonly operation: Operation;
  /** What the contract says that the example sends. */
  readonly expected: ExampleRequest;
};

export type ExamplePage = {
  readonly name: string;
  /** What all examples of the page need first. */
  readonly setup: Tabs;
  readonly examples: readonly ReferenceExample[];
};

const TABS = /^```sh \[curl\]\n([\s\S]*?)\n```\n\n```ts \[TypeScript\]\n([\s\S]*?)\n```$/m;
const SECTION = /^<a id="(\w+)"><\/a>$/m;

function readTabs(text: string, place: string): Tabs {
  const [, curl, program] = TABS.exec(text) ?? [];
  if (curl === undefined || program === undefined) throw new Error(`${place} has no tabs.`);
  return { curl, program };
}

export function readExamplePages(): readonly ExamplePage[] {
  return globSync('docs/reference/*.md', { cwd: ROOT })
    .sort()
    .flatMap((name) => {
      const [head = '', ...parts] = readFileSync(join(ROOT, name), 'utf8').split(SECTION);
      // Ids and texts take turns.
      const sections = parts.flatMap((id, index) =>
        index % 2 === 0 ? [{ id, text: parts[index + 1] ?? '' }] : [],
      );
      if (sections.length === 0) return [];
      return [
        { name, setup: readTabs(head, name), examples: sections.map(({ id, text }) => toExample(id, text)) },
      ];
    });
}

function toExample(id: string, text: string): ReferenceExample {
  const operation = OPERATIONS.find((each) => each.id === id);
  if (!operation) throw new Error(`${id} is no operation.`);
  return { operation, expected: buildExampleRequest(operation), ...readTabs(text, id) };
}

/** A request that an example sent. */
export type SentRequest = {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
};

const CREDENTIALS = {
  token: 'authorization',
  'service key': 'x-service-key',
  'operator key': 'x-operator-key',
} as const;

/** What an example sent, in the terms of what it should send. */
export function describeSent({ method, url, headers, body }: SentRequest): object {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const isJson = headers.get('content-type') === 'application/json';
  const json: unknown = isJson && body !== '' ? JSON.parse(body) : {};
  const credentials = Object.values(CREDENTIALS).filter((name) => headers.has(name));
  return { method, path: pathname, query: Object.fromEntries(searchParams), credentials, json };
}

/** `file`: its bytes are the body. */
export const describeExpected = ({ method, path, query, credential, body = {} }: ExampleRequest): object => ({
  method,
  path,
  query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
  credentials: credential ? [CREDENTIALS[credential]] : [],
  json: body,
});

/** `/media/{id}` → `/media/[^/]+`. */
export const toPathPattern = ({ path }: Operation): RegExp =>
  RegExp(`^${path.replace(/[.~]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`);
