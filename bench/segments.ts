// Benchmark of segments with a playback token, compared with nginx on the same files.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { openDiskObjectStore } from '../service/src/storage/disk-object-store.ts';
import { renditionFolder, renditionKey } from '../service/src/storage/object-key.ts';
import type { ObjectStore } from '../service/src/storage/object-store.ts';
import { bearerOf, cycle } from './cases.ts';
import { type Environment, startService } from './environment.ts';
import { request } from './load.ts';
import { startNginx, startNginxBefore } from './nginx.ts';
import { type Effort, measurePair } from './pair.ts';
import type { Server } from './processes.ts';
import { rowOfPair, type Row } from './rows.ts';

const FOLDER = renditionFolder(1, 1);
const FILES = 50;
const SIZES = [
  { kilobytes: 500, goal: '≥ 0.7', accelGoal: '≥ 0.9' },
  { kilobytes: 20, goal: '≥ 0.3', accelGoal: '' },
] as const;

export async function segments(environment: Environment, effort: Effort): Promise<Row[]> {
  const nginx = await startNginx(environment.folder);
  if (!nginx) return [['segments with token', 'nginx with the same files', '', '', 'nginx is not installed']];
  const assetId = environment.assetIds[0] as string;
  const base = await preparePlayableAsset(environment, assetId);
  const store = await openDiskObjectStore(join(environment.folder, 'objects'));
  const accel = await startAccelerated(environment, false);
  const popular = await startAccelerated(environment, true);
  const rows: Row[] = [];
  for (const { kilobytes, goal, accelGoal } of SIZES) {
    const { names, paths } = await storeSegments(store, assetId, kilobytes);
    const ours = cycle(names.map((name) => request(`GET ${base}/${name}`)));
    const reference = { server: nginx, next: cycle(paths.map((path) => request(`GET ${path}`))) };
    for (const { server, how, wanted } of [
      { server: environment.service, how: 'with token', wanted: goal },
      { server: accel, how: 'by X-Accel-Redirect', wanted: '' },
      { server: popular, how: 'by X-Accel-Redirect, nginx-segments.conf', wanted: accelGoal },
    ])
      for (const connections of [16, 64])
        rows.push(
          rowOfPair(
            {
              what: `segment of ${kilobytes} KB ${how}, ${connections} connections`,
              against: 'nginx with the same files',
              goal: wanted,
            },
            await measurePair({ ...effort, connections, ours: { server, next: ours }, reference }),
          ),
        );
  }
  await Promise.all([nginx.stop(), accel.stop(), popular.stop()]);
  return rows;
}

/** nginx in front of a service that lets it send the segments; both together. */
async function startAccelerated({ folder, databaseUrl }: Environment, isPopular: boolean): Promise<Server> {
  const service = await startService(folder, databaseUrl, {
    SEGMENT_DELIVERY: 'x-accel-redirect',
    TRUST_PROXY: 'loopback',
  });
  const nginx = (await startNginxBefore(service, folder, isPopular)) as Server;
  return {
    ...nginx,
    cpuSeconds: () => nginx.cpuSeconds() + service.cpuSeconds(),
    stop: async () => {
      await nginx.stop();
      await service.stop();
    },
  };
}

type Playable = Pick<Environment, 'databaseUrl' | 'service' | 'token'>;

/** Marks the asset as encoded; returns the path of its segments. */
export async function preparePlayableAsset(
  { databaseUrl, service, token }: Playable,
  id: string,
): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    "update assets set stream_status = 'ready', playback = $2, revision = revision + 1 where id = $1",
    [id, { kind: 'own', attempt: 1, folder: FOLDER }],
  );
  await client.end();
  const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/media/${id}/playback`, {
    headers: bearerOf(token),
  });
  const { data } = (await response.json()) as { data: { hls: string } };
  return new URL(FOLDER, data.hls).pathname;
}

export async function storeSegments(
  store: ObjectStore,
  assetId: string,
  kilobytes: number,
): Promise<{ names: string[]; paths: string[] }> {
  const names = Array.from({ length: FILES }, (_, n) => `v${kilobytes}-${n}.m4s`);
  for (const name of names)
    await store.put(
      renditionKey(assetId, FOLDER, name),
      streamOf(randomBytes(kilobytes * 1000)),
      Number.MAX_SAFE_INTEGER,
    );
  return {
    names,
    paths: names.map((name) => store.localFile?.(renditionKey(assetId, FOLDER, name)) as string),
  };
}

async function* streamOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
