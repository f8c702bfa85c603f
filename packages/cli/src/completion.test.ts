// Tests the completion scripts of the shells.
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { renderCompletion } from './completion.ts';
import { createProgram } from './program.ts';

const stream = new PassThrough();
const { signal } = new AbortController();
const program = createProgram({
  env: {},
  folder: '/',
  stdin: stream,
  stdout: stream,
  stderr: stream,
  signal,
});

describe('bash', () => {
  const script = renderCompletion(program, 'bash');

  test('completes commands, commands of groups, options and values', () => {
    expect(script).toMatch(/^ +"ls"\) words=""; flags="--kind --status .*--json/m);
    expect(script).toMatch(/^ +"config"\) words="login show list use remove"/m);
    expect(script).toMatch(/^ +"trigger"\) words="asset.created asset.uploaded .*"; flags="--list --to /m);
    expect(script).toContain('"ls:--status") words="pending_upload processing ready failed" ;;');
  });
});

test.each(['zsh', 'fish'] as const)('%s knows every command and escapes its descriptions', (shell) => {
  const script = renderCompletion(program, shell);
  for (const name of ['upload', 'rotate-secret', 'replay', 'asset.ready']) expect(script).toContain(name);
  const quotes = script.replaceAll("'\\''", '').match(/'/g) ?? [];
  expect(quotes.length % 2).toBe(0);
});
