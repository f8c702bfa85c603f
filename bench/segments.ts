// Benchmark of segments with a playback token, compared with nginx on the same files.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { openDiskObjectStore } from '../service/src/storage/disk-object-store.ts';
import { renditionFolder, renditionKey } from '../service/src/storage/object-key.ts';
import type { ObjectStore } from '../service/src/storage/object-store.ts';
import type { Ground } from './ground.ts';
import { request } from './load.ts';
import { startNginx } from './nginx.ts';
import { type Effort, measurePair } from './pair.ts';
import { ofPair, type Row } from './rows.ts';

const FOLDER = renditionFolder(1, 1);
const FILES = 50;
const SIZES = [
  { kilobytes: 500, goal: '≥ 0.8' },
  { kilobytes: 20, goal: '≥ 0.15' },
] as const;

export async function segments(ground: Ground, effort: Effort): Promise<Row[]> {
  const base = await playingAsset(ground);
  const nginx = await startNginx(ground.folder);
  const store = await openDiskObjectStore(join(ground.folder, 'objects'));
  const rows: Row[] = [];
  for (const { kilobytes, goal } of SIZES) {
    const { names, paths } = await storeSegments(store, ground.assetIds[0] as string, kilobytes);
    const ours = names.map((name) => request(`GET ${base}/${FOLDER}/${name}`));
    const limit = paths.map((path) => request(`GET ${path}`));
    for (const connections of [16, 64]) {
      const named = {
        what: `segment of ${kilobytes} KB with token, ${connections} connections`,
        against: 'nginx on the same files',
        goal,
      };
      rows.push(
        nginx
          ? ofPair(
              named,
              await measurePair({
                ...effort,
                connections,
                ours: { server: ground.service, next: (n) => ours[n % FILES] as Buffer },
                limit: { server: nginx, next: (n) => limit[n % FILES] as Buffer },
              }),
            )
          : [named.what, named.against, '', goal, 'nginx is not installed'],
      );
    }
  }
  await nginx?.stop();
  return rows;
}

/** Marks the first asset as encoded; returns its playback path. */
async function playingAsset({ databaseUrl, service, token, assetIds: [id] }: Ground): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    "update assets set stream_status = 'ready', playback = $2, revision = revision + 1 where id = $1",
    [id, { kind: 'own', attempt: 1, folder: FOLDER }],
  );
  await client.end();
  const answer = await fetch(`http://127.0.0.1:${service.port}/api/v1/media/${id}/playback`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { data } = (await answer.json()) as { data: { hls: string } };
  return new URL('.', data.hls).pathname.slice(0, -1);
}

async function storeSegments(
  store: ObjectStore,
  assetId: string,
  kilobytes: number,
): Promise<{ names: string[]; paths: string[] }> {
  const names = Array.from({ length: FILES }, (_, n) => `v${kilobytes}-${n}.m4s`);
  for (const name of names)
    await store.put(
      renditionKey(assetId, FOLDER, name),
      once(randomBytes(kilobytes * 1000)),
      Number.MAX_SAFE_INTEGER,
    );
  return {
    names,
    paths: names.map((name) => store.localFile?.(renditionKey(assetId, FOLDER, name)) as string),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
