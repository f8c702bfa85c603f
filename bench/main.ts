// Runs all or the named cases and prints a table of ratios; `--write` stores it in RESULTS.md with a description of the machine.
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { getAsset, openUpload, startUp, webhook } from './cases.ts';
import { encode } from './encode.ts';
import { type Ground, takeGround } from './ground.ts';
import { lists } from './lists.ts';
import { median } from './pair.ts';
import { pictures } from './pictures.ts';
import { ofPair, type Row, round, table } from './rows.ts';
import { segments } from './segments.ts';
import { uploads } from './uploads.ts';

const EFFORT = { rounds: 5, seconds: 2 };
const LESS_EFFORT = { rounds: 5, seconds: 1 };

const CASES: Readonly<Record<string, (ground: Ground) => Promise<readonly Row[]>>> = {
  calls: async (ground) => [
    ofPair(
      {
        what: 'GET one asset, bearer',
        against: 'bare Fastify + pg select of the same columns',
        goal: '≥ 0.85',
      },
      await getAsset(ground, EFFORT),
    ),
    ofPair(
      {
        what: 'onprem webhook that changes state: asset, event, delivery',
        against: 'bare Fastify + one-row UPDATE',
        goal: '≥ 0.5',
      },
      await webhook(ground, EFFORT),
    ),
    ofPair(
      { what: 'upload-url: asset, event', against: 'bare Fastify + one-row INSERT', goal: '≥ 0.5' },
      await openUpload(ground, EFFORT),
    ),
  ],
  encode: async () => {
    const { ratio, ours, byHand } = await encode(3);
    return [
      [
        'encode of 10 s 1280×720',
        'the same ffmpeg arguments by hand',
        `${round(ratio)} × time`,
        '≤ 1.15',
        `${round(ours)} s to ${round(byHand)} s`,
      ],
    ];
  },
  start: async () => {
    const times = await startUp(3);
    return [
      [
        'start to ready, data folder there',
        '',
        `${round(median(times))} s`,
        '< 2 s',
        `${round(Math.min(...times))}–${round(Math.max(...times))} s`,
      ],
    ];
  },
  segments: (ground) => segments(ground, LESS_EFFORT),
  pictures: (ground) => pictures(ground, LESS_EFFORT),
  lists: (ground) => lists(ground, LESS_EFFORT),
  // Runs last, because the disk stays busy for a while after it.
  uploads: (ground) => uploads(ground, LESS_EFFORT),
};

async function measure(names: readonly string[]): Promise<Row[]> {
  const ground = await takeGround(500);
  const rows: Row[] = [];
  try {
    for (const name of names) rows.push(...((await CASES[name]?.(ground)) ?? []));
  } finally {
    await ground.leave();
  }
  return rows;
}

const machine = () =>
  `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${type()} ${release()}, Node ${process.version}`;

/** The text after this line is written by hand and preserved. */
const REMARKS = '## What holds back';

const ABOUT = `Ratios of one run: both sides take turns on the same machine, database and driver settings (\`synchronous_commit\` on); the ratio is the median of the rounds.
The load generator, the server and PostgreSQL share the processors, so absolute figures are this machine's alone. \`npm run bench -- --write\` makes this page,
\`npm run bench -- ${Object.keys(CASES).join(' ')}\` prints the rows of the cases that are named.`;

const {
  values: { write },
  positionals,
} = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean' } } });
if (write && positionals.length > 0) throw new Error('the page is made of all cases');
const unknown = positionals.find((name) => !(name in CASES));
if (unknown) throw new Error(`there is no case "${unknown}"; there are ${Object.keys(CASES).join(', ')}`);
const results = table(await measure(positionals.length > 0 ? positionals : Object.keys(CASES)));
process.stdout.write(`${results}\n`);
if (write) {
  const file = join(import.meta.dirname, 'RESULTS.md');
  const remarks = (await readFile(file, 'utf8')).split(REMARKS)[1] ?? '';
  await writeFile(
    file,
    `# Bench\n\n${ABOUT}\n\nMachine: ${machine()}. ${new Date().toISOString().slice(0, 10)}.\n\n${results}\n\n${REMARKS}${remarks}`,
  );
}
