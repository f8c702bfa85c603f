// Benchmark of short videos through HTTP, with all further files, against one ffmpeg run of the ladder.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ffmpegPath } from '../test/support/clips/clips.ts';
import { bearerOf } from './cases.ts';
import { LADDER_OF_720P, referenceArguments } from './encode.ts';
import { type Environment, openUploads, startService } from './environment.ts';
import { median } from './pair.ts';
import { type Server, treeCpuSecondsOf } from './processes.ts';
import { type Row, round } from './rows.ts';

const SECONDS = 10;
const POLL_MS = 50;

/** Codecs that are encoded, and H.264, which is copied: options of ffmpeg, and the type of the file. */
const SOURCES = {
  'H.264': [['-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '3M', '-g', '60'], 'video/mp4', 'mp4'],
  HEVC: [
    [
      '-c:v',
      'libx265',
      '-preset',
      'ultrafast',
      '-crf',
      '22',
      '-tag:v',
      'hvc1',
      '-x265-params',
      'log-level=1',
    ],
    'video/mp4',
    'mp4',
  ],
  VP9: [
    ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '3M', '-c:a', 'libopus'],
    'video/webm',
    'webm',
  ],
} as const;
type SourceName = keyof typeof SOURCES;

/** In seconds. `cpu`: from the upload until the last further file. */
type AssetTimes = { readonly ready: number; readonly cpu: number };
type Round = { readonly ours: AssetTimes; readonly reference: AssetTimes };

export async function assets(environment: Environment, rounds: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-bench-assets-'));
  const { databaseUrl } = environment;
  const service = await startService(environment.folder, databaseUrl, { MEDIARY_ROLE: 'all' });
  try {
    const rows: Row[] = [];
    for (const name of Object.keys(SOURCES) as SourceName[]) {
      const source = await makeSource(name, folder);
      const all: Round[] = [];
      for (let number = 0; number < rounds; number++)
        all.push({
          reference: await measureReference(source, join(folder, `${name}-${number}`)),
          ours: await measureAsset({ ...environment, service }, name, source),
        });
      rows.push(...rowsOf(name, all));
    }
    return rows;
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function rowsOf(name: SourceName, all: readonly Round[]): Row[] {
  const what = `${SECONDS} s of 720p in ${name} through HTTP`;
  const rowOf = (part: string, goal: string, of: (times: AssetTimes) => number): Row => [
    `${what}: ${part}`,
    'one ffmpeg run of the ladder',
    `${round(median(all.map(({ ours, reference }) => of(ours) / of(reference))))} ×`,
    goal,
    `${round(median(all.map(({ ours }) => of(ours))))} s ` +
      `to ${round(median(all.map(({ reference }) => of(reference))))} s`,
  ];
  return [
    rowOf('time until it is ready', '≤ 1.15', ({ ready }) => ready),
    rowOf('processor time, with storyboard, preview, MP4 and M4A', '≤ 1.2', ({ cpu }) => cpu),
  ];
}

async function makeSource(name: SourceName, folder: string): Promise<string> {
  const [options, , extension] = SOURCES[name];
  const file = join(folder, `${name}.${extension}`);
  await promisify(execFile)(ffmpegPath(), [
    ...['-nostdin', '-y', '-loglevel', 'error'],
    ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30,noise=alls=4:allf=t'],
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'],
    ...['-t', String(SECONDS), '-pix_fmt', 'yuv420p', '-c:a', 'aac', ...options, file],
  ]);
  return file;
}

async function measureReference(source: string, folder: string): Promise<AssetTimes> {
  await mkdir(folder);
  const [start, cpu] = [performance.now(), treeCpuSecondsOf(process.pid)];
  await promisify(execFile)(ffmpegPath(), referenceArguments(source, folder, LADDER_OF_720P));
  return { ready: secondsSince(start), cpu: treeCpuSecondsOf(process.pid) - cpu };
}

const secondsSince = (start: number): number => (performance.now() - start) / 1000;

type ResponseData = Readonly<Record<string, unknown>>;
/** URLs of the playback that are set when all further files exist. */
const EXTRAS = ['storyboard', 'preview', 'mp4', 'audio'];

async function measureAsset(
  { service, token }: Pick<Environment, 'service' | 'token'>,
  name: SourceName,
  source: string,
): Promise<AssetTimes> {
  const type = SOURCES[name][1];
  const bytes = await readFile(source);
  const upload = { filename: 'clip', content_type: 'video', mime_type: type };
  const [opened] = await openUploads(service, token, { count: 1, upload });
  if (!opened) throw new Error('no upload');
  const call = createCaller(service);
  const headers = bearerOf(token);
  const [start, cpu] = [performance.now(), service.treeCpuSeconds()];
  await call(opened.path, { method: 'PUT', body: bytes, headers: { 'content-type': type } });
  await call(`/api/v1/media/${opened.id}/complete`, { method: 'POST', headers });
  const path = `/api/v1/media/${opened.id}`;
  await waitFor(async () => {
    const { stream_status } = await call(path, { headers });
    if (stream_status === 'failed') throw new Error('the encode failed');
    return stream_status === 'ready';
  });
  const ready = secondsSince(start);
  await waitFor(async () => {
    const playback = await call(`${path}/playback`, { headers });
    return EXTRAS.every((extra) => typeof playback[extra] === 'string');
  });
  return { ready, cpu: service.treeCpuSeconds() - cpu };
}

async function waitFor(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await delay(POLL_MS);
}

const createCaller =
  ({ port }: Server) =>
  async (path: string, request: RequestInit): Promise<ResponseData> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, request);
    if (!response.ok) throw new Error(`${path} returned ${response.status}`);
    return ((await response.json()) as { data: ResponseData }).data;
  };
