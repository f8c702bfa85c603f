// Runs all or the named cases and prints a table of ratios; `--write` writes it to RESULTS.md.
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { assets } from './assets.ts';
import { getAsset, measureStart, openPresigned, openUpload, webhook } from './cases.ts';
import { chunks } from './chunks.ts';
import { encode, type EncodeRatios } from './encode.ts';
import { eventStreams } from './event-streams.ts';
import { type Environment, startEnvironment } from './environment.ts';
import { lists } from './lists.ts';
import { median } from './pair.ts';
import { images } from './images.ts';
import { quality } from './quality.ts';
import { rowOfPair, type Row, round, table } from './rows.ts';
import { segments } from './segments.ts';
import { slowUploads } from './slow-uploads.ts';
import { largeUploads, uploads } from './uploads.ts';
import { workerMemory } from './worker-memory.ts';

const EFFORT = { rounds: 5, seconds: 2 };
const SHORT_EFFORT = { rounds: 5, seconds: 1 };
/** Each round sends 4 GiB. */
const LARGE_ROUNDS = 3;

const REFERENCE = 'one ffmpeg run of the ladder';

function rowsOfEncode(
  what: string,
  { playable, ready, times }: EncodeRatios,
  playableGoal: string,
): readonly Row[] {
  const timesOf = (ours: number) => `${round(ours)} s to ${round(times.reference)} s`;
  return [
    [
      `${what}: until it plays`,
      REFERENCE,
      `${round(playable)} × time`,
      playableGoal,
      timesOf(times.playable),
    ],
    [`${what}: until it is ready`, REFERENCE, `${round(ready)} × time`, '≤ 1.05', timesOf(times.ready)],
  ];
}

const CASES: Readonly<Record<string, (environment: Environment) => Promise<readonly Row[]>>> = {
  calls: async (environment) => [
    rowOfPair(
      {
        what: 'GET one asset, bearer',
        against: 'bare Fastify + pg select of the same columns',
        goal: '≥ 0.85',
      },
      await getAsset(environment, EFFORT),
    ),
    rowOfPair(
      {
        what: 'onprem webhook that changes state: asset, event, delivery',
        against: 'bare Fastify + one-row UPDATE',
        goal: '≥ 0.5',
      },
      await webhook(environment, EFFORT),
    ),
    rowOfPair(
      { what: 'upload-url: asset, event', against: 'bare Fastify + one-row INSERT', goal: '≥ 0.5' },
      await openUpload(environment, EFFORT),
    ),
    rowOfPair(
      {
        what: 'upload-url with an S3 store: presigned PUT',
        against: 'upload-url with a disk',
        goal: '≥ 0.9',
      },
      await openPresigned(environment, EFFORT),
    ),
  ],
  encode: async () => [
    ...rowsOfEncode('30 s of 1080p in H.264', await encode('h264', 3), '≤ 0.05'),
    ...rowsOfEncode('30 s of 1080p in VP8', await encode('vp8', 3), '≤ 0.25'),
  ],
  assets: (environment) => assets(environment, 3),
  chunks: async () => [...(await chunks('h264', 2)), ...(await chunks('vp8', 2))],
  start: async () => {
    const times = await measureStart(3);
    return [
      [
        'start to ready, with an existing data folder',
        '',
        `${round(median(times))} s`,
        '< 2 s',
        `${round(Math.min(...times))}–${round(Math.max(...times))} s`,
      ],
    ];
  },
  quality,
  worker: workerMemory,
  segments: (environment) => segments(environment, SHORT_EFFORT),
  images: (environment) => images(environment, SHORT_EFFORT),
  lists: (environment) => lists(environment, SHORT_EFFORT),
  streams: (environment) => eventStreams(environment, 5),
  slow: (environment) => slowUploads(environment, 3),
  // Run last, because the disk stays busy for a while after them.
  uploads: (environment) => uploads(environment, SHORT_EFFORT),
  large: (environment) => largeUploads(environment, LARGE_ROUNDS),
};

async function measure(names: readonly string[]): Promise<Row[]> {
  const environment = await startEnvironment(500);
  const rows: Row[] = [];
  try {
    for (const name of names) rows.push(...((await CASES[name]?.(environment)) ?? []));
  } finally {
    await environment.stop();
  }
  return rows;
}

const machine = () =>
  [
    `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `${type()} ${release()}`,
    `Node ${process.version}`,
  ].join(', ');

/** The text from this heading on is written by hand and preserved. */
const REMARKS = '## Remarks';

const ABOUT = [
  'Ratios of one run: the service and its reference alternate on the same machine with the same database ' +
    'and driver',
  'settings (`synchronous_commit` on). The ratio is the median of the rounds. ' +
    'The load generator, the server and',
  'PostgreSQL share the processors, so absolute figures are only valid for this machine.',
  '',
  '`npm run bench -- --write` generates this page up to the remarks.',
  `\`npm run bench -- ${Object.keys(CASES).join(' ')}\` prints the rows of the named cases.`,
].join('\n');

const {
  values: { write },
  positionals,
} = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean' } } });
if (write && positionals.length > 0) throw new Error('--write needs all cases: do not name any');
const unknown = positionals.find((name) => !(name in CASES));
if (unknown) throw new Error(`Unknown case "${unknown}". Cases: ${Object.keys(CASES).join(', ')}.`);
const results = table(await measure(positionals.length > 0 ? positionals : Object.keys(CASES)));
process.stdout.write(`${results}\n`);
if (write) {
  const file = join(import.meta.dirname, 'RESULTS.md');
  const remarks = (await readFile(file, 'utf8')).split(REMARKS)[1] ?? '';
  const today = new Date().toISOString().slice(0, 10);
  const sections = [
    '# Benchmarks',
    ABOUT,
    `Machine: ${machine()}. ${today}.`,
    results,
    `${REMARKS}${remarks}`,
  ];
  await writeFile(file, sections.join('\n\n'));
}
