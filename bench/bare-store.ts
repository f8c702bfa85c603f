// Reference server for uploads: Node's HTTP server, the necessary system calls and, at one path, a row.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, mkdir, open, unlink } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';

const FOLDER = process.env['FOLDER'] as string;
const SHARDS = Array.from({ length: 256 }, (_, byte) => join(FOLDER, byte.toString(16).padStart(2, '0')));
for (const shard of SHARDS) await mkdir(shard, { recursive: true });

/** Stores bytes at once: temporary file, final name and, if `isDurable`, a sync of file and folder. */
async function storeSmall(request: IncomingMessage, isDurable: boolean): Promise<void> {
  const { temporary, shard } = newPaths();
  const file = await open(temporary, 'wx');
  for await (const chunk of request) await file.write(chunk as Buffer);
  if (isDurable) await file.sync();
  await file.close();
  await publish(temporary, shard, isDurable);
}

/** Stores bytes at once, then a row that records them. */
async function storeRecorded(request: IncomingMessage): Promise<void> {
  await storeSmall(request, true);
  await pool.query(INSERT);
}

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: 10,
  pipeline: true,
} as pg.PoolConfig);
const INSERT = {
  name: 'insert',
  text: "insert into bare_rows (id, status) values (gen_random_uuid(), 'uploaded')",
};

/** Streams a body of any length to a file. */
async function storeLarge(request: IncomingMessage): Promise<void> {
  const { temporary, shard } = newPaths();
  await pipeline(request, createWriteStream(temporary, { flags: 'wx', flush: true }));
  await publish(temporary, shard, true);
}

const newPaths = () => ({
  temporary: join(FOLDER, randomUUID()),
  shard: SHARDS[Math.floor(Math.random() * SHARDS.length)] as string,
});

async function publish(temporary: string, shard: string, isDurable: boolean): Promise<void> {
  await link(temporary, join(shard, randomUUID()));
  await unlink(temporary);
  if (!isDurable) return;
  await using folder = await open(shard, 'r');
  await folder.sync();
}

const STORE: Readonly<Record<string, (request: IncomingMessage) => Promise<void>>> = {
  '/ready': async () => {},
  '/durable': (request) => storeSmall(request, true),
  '/recorded': storeRecorded,
  '/fast': (request) => storeSmall(request, false),
  '/large': storeLarge,
};

createServer((request, response) => {
  STORE[request.url ?? '']?.(request).then(
    () => response.setHeader('content-length', 2).end('{}'),
    (error: unknown) => {
      throw error;
    },
  );
}).listen(Number(process.env['PORT']), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
