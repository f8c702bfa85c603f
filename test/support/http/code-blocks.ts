// The code blocks of Markdown files, with the comments in front of them that tell tests what to do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/**
 * `not run: <reason>`: only counted. `file: <name>`: later blocks run it. `in the background`: runs until the
 * document ends. `schema: <name>`: the JSON has members of this schema of the OpenAPI document.
 */
type Marker = { readonly name: 'not run' | 'file' | 'in the background' | 'schema'; readonly value: string };

export type CodeBlock = {
  /** Relative to the repository. */
  readonly document: string;
  /** Of the first line of the code. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  readonly marker: Marker | undefined;
};

const MARKER = /^<!-- (not run|file|in the background|schema)(?:: (.+))? -->$/;
const FENCE = /^```(\w*)$/;

export function readCodeBlocks(document: string): readonly CodeBlock[] {
  const lines = readFileSync(join(ROOT, document), 'utf8').split('\n');
  const blocks: CodeBlock[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const language = FENCE.exec(lines[at] ?? '')?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`${document}:${at + 1} is not closed`);
    blocks.push({
      document,
      line: at + 2,
      language,
      code: lines.slice(at + 1, end).join('\n'),
      marker: toMarker(lines[at - 1]),
    });
    at = end;
  }
  return blocks;
}

function toMarker(line = ''): Marker | undefined {
  const [, name, value = ''] = MARKER.exec(line) ?? [];
  return name ? { name: name as Marker['name'], value } : undefined;
}

/** The blocks at their lines, so that errors have the line numbers of the document. */
export function placeAtLines(blocks: readonly CodeBlock[]): string {
  let text = '';
  let line = 1;
  for (const block of blocks) {
    text += '\n'.repeat(Math.max(0, block.line - line)) + block.code;
    line = Math.max(line, block.line) + block.code.split('\n').length - 1;
  }
  return `${text}\n`;
}
