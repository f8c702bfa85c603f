// Reference server for requests: the same framework, driver and database without the service's code.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import Fastify from 'fastify';
import pg from 'pg';

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: 10,
  pipeline: true,
} as pg.PoolConfig);
const app = Fastify();

/** The columns that the service reads for the same request. */
const SELECT = `
  select id, owner_user_id, kind, filename, content_type, mime_type, size_bytes, checksum_sha256,
         visibility, stream_status, provider, provider_video_id, playback, playable_at, ready_at,
         progress, renditions,
         width, height, duration_ms, placeholder, warnings, failure, title, tags, metadata, version,
         created_at, updated_at, uploaded_at, deleted_at
    from assets`;

app.get('/ready', async () => 'ok');

app.get<{ Params: { id: string } }>('/media/:id', async ({ params, id }) => {
  const {
    rows: [row],
  } = await pool.query({ name: 'asset', text: `${SELECT} where id = $1`, values: [params.id] });
  return {
    success: true,
    message: 'Asset',
    code: 200,
    data: row,
    request_id: id,
    timestamp: new Date().toISOString(),
  };
});

app.get<{ Params: { owner: string } }>('/list/:owner', async ({ params, id }) => {
  const text = `${SELECT} where owner_user_id = $1 and deleted_at is null order by id desc limit $2`;
  const { rows } = await pool.query({ name: 'list', text, values: [params.owner, 51] });
  const items = rows.slice(0, 50);
  return {
    success: true,
    message: 'Assets',
    code: 200,
    data: { items, next_cursor: items.at(-1).id },
    request_id: id,
    timestamp: new Date().toISOString(),
  };
});

app.post<{ Body: { id: string; status: string } }>('/update', async ({ body }) => {
  const {
    rows: [row],
  } = await pool.query({
    name: 'update',
    text: 'update bare_rows set status = $2, revision = revision + 1 where id = $1 returning revision',
    values: [body.id, body.status],
  });
  return { processed: row.revision > 0 };
});

app.post<{ Body: { filename: string; mime_type: string } }>('/insert', async ({ body }) => {
  const {
    rows: [row],
  } = await pool.query({
    name: 'insert',
    text: 'insert into bare_rows (id, status) values (gen_random_uuid(), $1) returning id',
    values: [body.filename],
  });
  return { id: row.id, mime_type: body.mime_type };
});

app.get<{ Params: { '*': string } }>('/files/*', async ({ params: { '*': path } }, reply) =>
  reply
    .type('image/webp')
    .header('content-length', (await stat(`/${path}`)).size)
    .send(createReadStream(`/${path}`)),
);

await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));
