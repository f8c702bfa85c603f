// Memory of a worker while it encodes, without that of its ffmpeg processes.
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ffmpegPath } from '../test/support/clips/clips.ts';
import { bearerOf } from './cases.ts';
import { makeSource } from './encode.ts';
import { type Environment, openUploads, startService } from './environment.ts';
import type { Server } from './processes.ts';
import type { Row } from './rows.ts';

const MIB = 2 ** 20;
const SAMPLE_EVERY_MS = 100;
const UPLOAD = { filename: 'film.webm', content_type: 'video', mime_type: 'video/webm' };

/** Pages of program files are shared by all processes of a program, so only private memory counts. */
export async function workerMemory(environment: Environment): Promise<Row[]> {
  const { folder, databaseUrl, service } = environment;
  const start = () =>
    startService(folder, databaseUrl, {
      MEDIARY_ROLE: 'worker',
      ENCODER_CALLBACK_URL: `http://127.0.0.1:${service.port}`,
    });
  // The first start compiles the service, which takes about 16 MiB more; later ones read the cache.
  await (await start()).stop();
  const worker = await start();
  const idle = worker.privateBytes();
  const peak = await peakWhile(worker, await startEncode(environment));
  const resident = worker.peakBytes();
  await worker.stop();
  const mib = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;
  return [
    [
      'private memory of a worker that encodes 30 s of 1080p, without ffmpeg',
      '',
      mib(peak),
      '≤ 80 MiB',
      `${mib(idle)} before the encode; resident, with Node's program file: ${mib(resident)} at most`,
    ],
  ];
}

/** Uploads a video, and returns whether it is still being encoded. */
async function startEncode({ service, folder, token }: Environment): Promise<() => Promise<boolean>> {
  const bytes = await readFile(await makeSource(ffmpegPath(), 'vp8', { folder }));
  const [upload] = await openUploads(service, token, { count: 1, upload: UPLOAD });
  if (!upload) throw new Error('no upload');
  const origin = `http://127.0.0.1:${service.port}`;
  const call = async (path: string, request: RequestInit): Promise<string> => {
    const response = await fetch(`${origin}${path}`, request);
    const { data } = (await response.json()) as { data: { stream_status: string } };
    if (!response.ok) throw new Error(`${path} returned ${response.status}`);
    return data.stream_status;
  };
  await call(upload.path, { method: 'PUT', body: bytes, headers: { 'content-type': UPLOAD.mime_type } });
  const headers = bearerOf(token);
  await call(`/api/v1/media/${upload.id}/complete`, { method: 'POST', headers });
  return async () => {
    const status = await call(`/api/v1/media/${upload.id}`, { headers });
    if (status === 'failed') throw new Error('the encode failed');
    return status !== 'ready';
  };
}

async function peakWhile(worker: Server, isRunning: () => Promise<boolean>): Promise<number> {
  let peak = 0;
  while (await isRunning()) {
    peak = Math.max(peak, worker.privateBytes());
    await delay(SAMPLE_EVERY_MS);
  }
  return peak;
}
