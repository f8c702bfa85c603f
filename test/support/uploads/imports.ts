// An in-process service that imports from a file server on loopback, and the steps and checks of its
// journeys.
import sharp from 'sharp';
import { expect } from 'vitest';
import { createLogger } from '../../../service/src/platform/observability/logger.ts';
import { type FileServer, startFileServer } from '../http/file-server.ts';
import { type AssetJson, settled } from '../media.ts';
import { type Answer, asUser, call, eventually, startTestService, type TestService } from '../service.ts';
import { originalFiles, rows } from '../service/traces.ts';

/** MAX_UPLOAD_BYTES of the service. */
export const MAX_BYTES = 8 * 1024 * 1024;
export const PNG = { 'content-type': 'image/png' };
/** What spares the first request to the source. */
export const NAMED = { filename: 'picture.png', mime_type: 'image/png' };

export type Imports = {
  readonly service: TestService;
  readonly server: FileServer;
  /** A picture that compresses badly: about 1.5 MB. */
  readonly picture: Buffer;
  /** Log lines of the service, at level debug. */
  readonly lines: readonly string[];
  stop(): Promise<void>;
};

export async function startImports(): Promise<Imports> {
  const lines: string[] = [];
  const log = createLogger('debug', {
    write: (line) => {
      lines.push(line);
    },
  });
  const server = await startFileServer();
  const picture = await makeNoise(700);
  const service = await startTestService(
    { OUTBOUND_ALLOW_PRIVATE: 'import', MAX_UPLOAD_BYTES: String(MAX_BYTES) },
    { log },
  );
  return {
    service,
    server,
    picture,
    lines,
    stop: async () => {
      await service.stop();
      await server.stop();
    },
  };
}

const makeNoise = (size: number): Promise<Buffer> =>
  sharp({
    create: {
      width: size,
      height: size,
      channels: 3,
      background: '#777',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .png()
    .toBuffer();

type Api = Pick<TestService, 'url'>;

export const requestImport = (
  service: Api,
  json: object,
  headers: Record<string, string> = asUser('ann'),
): Promise<Answer<AssetJson>> => call<AssetJson>(service, 'POST /media/import', { headers, json });

export async function startImport(
  service: Api,
  json: object,
  headers?: Record<string, string>,
): Promise<AssetJson> {
  const answer = await requestImport(service, json, headers);
  expect(answer.body).toMatchObject({ success: true, message: 'Import started' });
  expect(answer.body.data).toMatchObject({ stream_status: 'pending_upload', size_bytes: null });
  return answer.body.data;
}

export const finishImport = async (service: Api, json: object): Promise<AssetJson> =>
  settled(service, 'ann', (await startImport(service, json)).id);

export const sourcesOf = ({ dataDir }: TestService, id: string) =>
  rows(dataDir, 'select * from imports where asset_id = $1', [id]);

export const expectNoFiles = ({ dataDir }: TestService, id: string) =>
  eventually(
    () => originalFiles(dataDir, id),
    (files) => files.length === 0,
  );

/** Ready with these bytes, and the source forgotten. */
export async function expectImported(service: TestService, asset: AssetJson, bytes: Buffer): Promise<void> {
  expect(asset).toMatchObject({ stream_status: 'ready', size_bytes: bytes.length, failure: null });
  const { body } = await call<{ url: string }>(service, `GET /media/${asset.id}/download-url`, {
    headers: asUser('ann'),
  });
  const stored = Buffer.from(await (await fetch(body.data.url)).arrayBuffer());
  expect(stored.equals(bytes)).toBe(true);
  expect(await sourcesOf(service, asset.id)).toEqual([]);
}

export async function expectImportFailed(
  service: TestService,
  asset: AssetJson,
  code: string,
): Promise<void> {
  expect(asset).toMatchObject({ stream_status: 'failed', failure: { code, retryable: true } });
  await expectNoFiles(service, asset.id);
}
