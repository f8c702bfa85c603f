// Throughput of 1, 2 and 4 API processes and workers, and the bytes that a request writes.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import { assetRequests, bearerOf, cycle, reportRequests, uploadUrlRequest } from './cases.ts';
import { makeAssets, openUploads, startService, tokenOf } from './environment.ts';
import { run } from './load.ts';
import type { Server } from './processes.ts';
import type { ScalingContext, ScalingDatabase } from './scaling.ts';

const PROCESSES = [1, 2, 4];
const CONNECTIONS = 64;
const SECONDS = 8;
const ASSETS = 1000;
const IMAGES = 300;
const TIMEOUT_MS = 300_000;

export async function measureProcesses({ folder, open }: ScalingContext): Promise<string> {
  const database = await open('processes');
  const token = tokenOf('bench');
  const lines = ['| processes | GET one asset | webhook | upload-url |', '|---|---|---|---|'];
  let writes = '';
  for (const count of PROCESSES) {
    const servers = await startAll(count, () => startService(folder, database.url));
    const ids = await makeAssets(servers[0] as Server, token, ASSETS);
    const loads = [cycle(assetRequests(ids, token)), reportRequests(ids), cycle([uploadUrlRequest(token)])];
    const results: LoadResult[] = [];
    for (const next of loads) results.push(await measureLoad(servers, next, database));
    lines.push(`| ${[count, ...results.map(({ rate }) => rate)].join(' | ')} |`);
    writes = `WAL: ${results.map(({ wal }) => wal.toFixed(0)).join(', ')} bytes per request`;
    await Promise.all(servers.map((server) => server.stop()));
  }
  return `${lines.join('\n')}\n\n${writes}\n\n${await readRowBytes(database)}`;
}

const startAll = async (count: number, start: () => Promise<Server>): Promise<Server[]> => {
  const servers: Server[] = [];
  for (let index = 0; index < count; index++) servers.push(await start());
  return servers;
};

type LoadResult = { readonly rate: string; readonly wal: number };

async function measureLoad(
  servers: readonly Server[],
  next: (n: number) => Buffer,
  { client }: ScalingDatabase,
): Promise<LoadResult> {
  const connections = CONNECTIONS / servers.length;
  const readWal = async () =>
    Number((await client.query("select pg_current_wal_insert_lsn() - '0/0' as bytes")).rows[0].bytes);
  let n = 0;
  const before = await readWal();
  const measured = await Promise.all(
    servers.map(({ port }) => run({ port, connections, seconds: SECONDS, next: () => next(n++) })),
  );
  const requests = measured.reduce((sum, each) => sum + each.requests, 0);
  const perSecond = measured.reduce((sum, each) => sum + each.perSecond, 0);
  const p99 = Math.max(...measured.map((each) => each.p99));
  return {
    rate: `${perSecond.toFixed(0)}/s, p99 ${p99.toFixed(0)} ms`,
    wal: ((await readWal()) - before) / requests,
  };
}

/** With partitions and indexes. */
async function readRowBytes({ client }: ScalingDatabase): Promise<string> {
  await client.query('analyze');
  const { rows } = await client.query<{ name: string; rows: number; bytes: number }>(
    `select regexp_replace(relname, '_\\d{4}_?\\d{2}$', '') as name, sum(n_live_tup)::float8 as rows,
            sum(pg_total_relation_size(relid))::float8 as bytes
       from pg_stat_user_tables group by 1 having sum(n_live_tup) >= 1000 order by 3 desc`,
  );
  const lines = rows.map(({ name, rows: count, bytes }) => `| ${name} | ${(bytes / count).toFixed(0)} |`);
  return ['| table | bytes per row, with indexes |', '|---|---|', ...lines].join('\n');
}

export async function measureWorkers({ folder, open }: ScalingContext): Promise<string> {
  const database = await open('workers');
  const shared = { STORAGE_URL: `file://${join(folder, 'workers-store')}` };
  const api = await startService(folder, database.url, shared);
  const lines = ['| workers | images of 1200×800 per second |', '|---|---|'];
  for (const count of PROCESSES) {
    await completeImages(api);
    const settings = {
      ...shared,
      MEDIARY_ROLE: 'worker',
      ENCODER_CALLBACK_URL: `http://127.0.0.1:${api.port}`,
    };
    const workers = await Promise.all(
      Array.from({ length: count }, (_, index) =>
        startService(folder, database.url, { ...settings, DATA_DIR: join(folder, `worker-${index}`) }),
      ),
    );
    const deadline = Date.now() + TIMEOUT_MS;
    while (await countUnfinished(database)) {
      if (Date.now() > deadline) throw new Error(`the images were not ready within ${TIMEOUT_MS} ms`);
      await delay(100);
    }
    lines.push(`| ${count} | ${(await readRate(database)).toFixed(1)} |`);
    await Promise.all(workers.map((worker) => worker.stop()));
  }
  await api.stop();
  return lines.join('\n');
}

/** No worker runs yet, so that the jobs of all images wait. */
async function completeImages(api: Server): Promise<void> {
  const upload = { filename: 'image.jpg', content_type: 'image', mime_type: 'image/jpeg' };
  const token = tokenOf('bench');
  const opened = await openUploads(api, token, { count: IMAGES, upload });
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  const image = sharp({ create: { width: 1200, height: 800, channels: 3, background: 'grey', noise } });
  const body = await image.jpeg().toBuffer();
  for (const { id, path } of opened) {
    const headers = { 'content-type': upload.mime_type };
    await expectOk(fetch(`http://127.0.0.1:${api.port}${path}`, { method: 'PUT', body, headers }));
    const complete = `http://127.0.0.1:${api.port}/api/v1/media/${id}/complete`;
    await expectOk(fetch(complete, { method: 'POST', headers: bearerOf(token) }));
  }
}

async function expectOk(response: Promise<Response>): Promise<void> {
  const { ok, status } = await response;
  if (!ok) throw new Error(`the response is ${status}`);
}

async function countUnfinished({ client }: ScalingDatabase): Promise<number> {
  const query = "select count(*)::int as count from assets where stream_status = 'processing'";
  return (await client.query(query)).rows[0].count;
}

/** Of the images that became ready in this round, without the start of the workers. */
async function readRate({ client }: ScalingDatabase): Promise<number> {
  const { rows } = await client.query(
    `select (count(*) - 1) / extract(epoch from max(ready_at) - min(ready_at)) as rate
       from (select ready_at from assets
              where ready_at is not null order by ready_at desc limit ${IMAGES}) as last`,
  );
  return Number(rows[0].rate);
}
