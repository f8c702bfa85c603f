// The quotas of API processes hold for the imports of workers, which do not have these settings.
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSuccess } from '../../support/http/envelope.ts';
import { file, type FileServer, startFileServer } from '../../support/http/file-server.ts';
import { finishImport } from '../../support/uploads/imports.ts';
import { type SharedData, startSharedData } from '../../support/postgres/shared-data.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

let data: SharedData;
let server: FileServer;
let shared: Record<string, string>;
let api: TestService;
let worker: TestService;
let picture: Buffer;
/** The URL of the picture, once by a server that names its length, once by one that does not. */
let urls: string[];

beforeAll(async () => {
  picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#777' } })
    .png()
    .toBuffer();
  server = await startFileServer();
  urls = [
    server.serve('/a.png', file(picture, { 'content-type': 'image/png' })),
    server.serve('/b.png', (_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      response.write(picture);
      response.end();
    }),
  ];
  data = await startSharedData();
  shared = { ...data.environment, OUTBOUND_ALLOW_PRIVATE: 'import' };
  await restartApi({ OWNER_MAX_BYTES: String(picture.length - 1), OWNER_MAX_PENDING: '7' });
  worker = await startTestService({
    ...shared,
    MEDIARY_ROLE: 'worker',
    ENCODER_CALLBACK_URL: api.address,
  });
});
afterAll(async () => {
  for (const service of [worker, api]) await service?.stop();
  await server?.stop();
  await data?.remove();
});

async function restartApi(settings: Readonly<Record<string, string>>): Promise<void> {
  await api?.stop();
  api = await startTestService({ ...shared, ...settings, MEDIARY_ROLE: 'api' });
}
const limits = async () => {
  const { bytes, pending } = expectSuccess(await call(api, 'GET /usage', { headers: asUser('ann') }));
  return { bytes, pending };
};

test('an import over the quota fails, and its bytes are not counted', async () => {
  for (const url of urls)
    expect(await finishImport(api, { url })).toMatchObject({
      stream_status: 'failed',
      failure: { code: 'import_too_large', message: expect.stringContaining('quota') },
    });
  expect(await limits()).toEqual({
    bytes: { used: 0, uploading: 0, limit: picture.length - 1 },
    pending: { used: 0, limit: 7 },
  });
});

test('the settings of the API process that starts last replace those of earlier ones', async () => {
  await restartApi({ OWNER_MAX_BYTES: String(picture.length) });
  expect(await limits()).toMatchObject({ pending: { limit: null } });
  const [url] = urls;
  expect(await finishImport(api, { url })).toMatchObject({ stream_status: 'ready' });
  expect(await finishImport(api, { url })).toMatchObject({ failure: { code: 'import_too_large' } });
  await restartApi({});
  expect(await finishImport(api, { url })).toMatchObject({ stream_status: 'ready' });
  expect(await limits()).toMatchObject({ bytes: { used: 2 * picture.length, limit: null } });
});
