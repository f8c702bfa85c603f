// What the examples of a page need first: variables of the shell, and clients of the SDK.

type Line = { readonly needed: RegExp; readonly text: string };

const SHELL: readonly Line[] = [
  { needed: /\$API/, text: 'API=https://media.example.com/api/v1' },
  { needed: /\$ORIGIN/, text: 'ORIGIN=https://media.example.com' },
  { needed: /\$TOKEN/, text: "TOKEN='an access token of a user'" },
  { needed: /\$SERVICE_KEY/, text: "SERVICE_KEY='the service key'" },
  { needed: /\$OPERATOR_KEY/, text: "OPERATOR_KEY='the operator key'" },
];

const IMPORTS: readonly Line[] = [
  { needed: /\bmediary\.|\bbackEnd\./, text: "import { createMediary } from '@mediary/client';" },
  { needed: /openAsBlob/, text: "import { openAsBlob } from 'node:fs';" },
];

const PROGRAM: readonly Line[] = [
  { needed: /./, text: "const baseUrl = 'https://media.example.com';" },
  { needed: /\$\{token\}/, text: "const token = 'an access token of a user';" },
  { needed: /: serviceKey\b/, text: "const serviceKey = 'the service key';" },
  { needed: /: operatorKey\b/, text: "const operatorKey = 'the operator key';" },
  {
    needed: /\bmediary\./,
    text: "const mediary = createMediary({ baseUrl, token: 'an access token of a user' });",
  },
  {
    needed: /\bbackEnd\./,
    text: "const backEnd = createMediary({ baseUrl, serviceKey: 'the service key' });",
  },
];

const pick = (lines: readonly Line[], examples: string): readonly string[] =>
  lines.filter(({ needed }) => needed.test(examples)).map(({ text }) => text);

/** `examples`: the text of the page. */
export function renderSetup(examples: string): string {
  const imports = pick(IMPORTS, examples);
  const program = [...imports, ...(imports.length > 0 ? [''] : []), ...pick(PROGRAM, examples)];
  return [
    'The examples use:',
    `\`\`\`sh [curl]\n${pick(SHELL, examples).join('\n')}\n\`\`\``,
    `\`\`\`ts [TypeScript]\n${program.join('\n')}\n\`\`\``,
  ].join('\n\n');
}
