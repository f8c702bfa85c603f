// The environment of all cases: one database, a service with known secrets and some assets, and a reference
// server.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { signAccessToken } from '../service/src/auth/tokens/access-token.ts';
import { toSecret } from '../service/src/auth/secret.ts';
import { startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { urlOf } from '../test/support/postgres/postgres.ts';
import { prepareTemporaryFolder } from '../test/support/tree/temporary-folder.ts';
import { type Server, startServer } from './processes.ts';

export const ONPREM_SECRET = 'bench-onprem-secret-0123456789abcdef-bench';
export const SECRETS = {
  ACCESS_TOKEN_SECRET: 'bench-access-token-secret-0123456789abcdef',
  SERVICE_API_KEY: 'bench-service-key-0123456789abcdef-bench',
  OPERATOR_KEY: 'bench-operator-key-0123456789abcdef-bench',
  ONPREM_WEBHOOK_SECRET: ONPREM_SECRET,
};

export type Environment = {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly service: Server;
  readonly bare: Server;
  readonly token: string;
  readonly assetIds: readonly string[];
  stop(): Promise<void>;
};

export async function startEnvironment(assets: number): Promise<Environment> {
  const folder = await mkdtemp(join(prepareTemporaryFolder(), 'bench-'));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres(folder);
  const databaseUrl = urlOf(postgres);
  const service = await startService(folder, databaseUrl);
  const token = tokenOf('bench');
  const assetIds = await makeAssets(service, token, assets);
  await makeBareRows(databaseUrl, assetIds);
  const bare = await startBare(databaseUrl);
  return {
    folder,
    databaseUrl,
    service,
    bare,
    token,
    assetIds,
    stop: async () => {
      await Promise.all([service.stop(), bare.stop()]);
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Creates another database on the same server. */
export const databaseUrlOf = (databaseUrl: string, name: string): string =>
  databaseUrl.replace(/\/[^/?]+\?/, `/${name}?`);

export const tokenOf = (userId: string): string =>
  signAccessToken({ user_id: userId, type: 'access' }, toSecret(SECRETS.ACCESS_TOKEN_SECRET));

/** Starts a service process; `environment` overrides the defaults. */
export const startService = (
  folder: string,
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Server> =>
  startServer(
    'service/start.js',
    {
      ...SECRETS,
      DATABASE_URL: databaseUrl,
      DATA_DIR: folder,
      MEDIARY_ROLE: 'api',
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'info',
      ...environment,
    },
    '/healthz',
  );

export const startBare = (databaseUrl: string): Promise<Server> =>
  startServer('bench/bare-server.ts', { DATABASE_URL: databaseUrl }, '/ready');

type OpenedUpload = {
  readonly id: string;
  /** With the ticket. */
  readonly path: string;
};
const CLIP = {
  filename: 'clip.mp4',
  content_type: 'video',
  mime_type: 'video/mp4',
  tags: ['bench'],
  metadata: { shelf: 7 },
};

/** Creates at least `count` uploads through the API. */
export async function openUploads(
  { port }: Server,
  token: string,
  { count, upload = CLIP }: { readonly count: number; readonly upload?: object },
): Promise<OpenedUpload[]> {
  const open = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/media/upload-url`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(upload),
    });
    const { data } = (await response.json()) as { data: { asset_id: string; upload_url: string } };
    return { id: data.asset_id, path: data.upload_url.replace(/^https?:\/\/[^/]+/, '') };
  };
  const opened: OpenedUpload[] = [];
  while (opened.length < count) opened.push(...(await Promise.all(Array.from({ length: 20 }, open))));
  return opened;
}

export const makeAssets = async (service: Server, token: string, count: number): Promise<string[]> =>
  (await openUploads(service, token, { count })).map(({ id }) => id);

/** A table with one row per asset and only a state. */
export async function makeBareRows(databaseUrl: string, ids: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    'create table bare_rows (id uuid primary key, status text not null, revision int not null default 1)',
  );
  await client.query("insert into bare_rows (id, status) select unnest($1::uuid[]), 'pending'", [ids]);
  await client.end();
}
