// Runs every case and prints one table of ratios; `--write` keeps it in RESULTS.md with the machine's description.
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { getAsset, openUpload, startUp, webhook } from './cases.ts';
import { encode } from './encode.ts';
import { takeGround } from './ground.ts';
import { median, type Ratios } from './pair.ts';

type Row = readonly [what: string, against: string, figure: string, goal: string, detail: string];

const EFFORT = { rounds: 5, seconds: 2 };
const round = (value: number) => value.toFixed(2);

const ofPair = (what: string, against: string, goal: string) => ({ throughput, perCpu, ours, limit }: Ratios): Row =>
  [what, against, round(throughput), goal, `${Math.round(ours.perSecond)}/s to ${Math.round(limit.perSecond)}/s, p99 ${round(ours.p99)} ms to ${round(limit.p99)} ms; per processor second ${round(perCpu)}`];

async function measure(): Promise<Row[]> {
  const ground = await takeGround(500);
  const rows = [
    ofPair('GET one asset, bearer', 'bare Fastify + pg select of the same columns', '≥ 0.85')(await getAsset(ground, EFFORT)),
    ofPair('onprem webhook that changes state: asset, event, delivery', 'bare Fastify + one-row UPDATE', '≥ 0.5')(await webhook(ground, EFFORT)),
    ofPair('upload-url: asset, event', 'bare Fastify + one-row INSERT', '≥ 0.5')(await openUpload(ground, EFFORT)),
  ];
  await ground.leave();
  const encoded = await encode(3);
  const starts = await startUp(3);
  return [
    ...rows,
    ['encode of 10 s 1280×720', 'the same ffmpeg arguments by hand', `${round(encoded.ratio)} × time`, '≤ 1.15', `${round(encoded.ours)} s to ${round(encoded.byHand)} s`],
    ['start to ready, data folder there', '', `${round(median(starts))} s`, '< 2 s', `${round(Math.min(...starts))}–${round(Math.max(...starts))} s`],
  ];
}

function table(rows: readonly Row[]): string {
  const head: Row = ['what', 'against', 'ratio', 'goal', 'detail'];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const machine = () => `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${type()} ${release()}, Node ${process.version}`;

/** From here on the page is written by hand, and kept. */
const REMARKS = '## What holds back';

const ABOUT = `Ratios of one run: both sides take turns on the same machine, database and driver settings (\`synchronous_commit\` on); the ratio is the median of the rounds.
The load generator, the server and PostgreSQL share the processors, so absolute figures are this machine's alone. \`npm run bench -- --write\` makes this page.`;

const results = table(await measure());
process.stdout.write(`${results}\n`);
if (process.argv.includes('--write')) {
  const file = join(import.meta.dirname, 'RESULTS.md');
  const remarks = (await readFile(file, 'utf8')).split(REMARKS)[1] ?? '';
  await writeFile(file, `# Bench\n\n${ABOUT}\n\nMachine: ${machine()}. ${new Date().toISOString().slice(0, 10)}.\n\n${results}\n\n${REMARKS}${remarks}`);
}
