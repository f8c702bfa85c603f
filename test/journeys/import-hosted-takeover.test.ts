// Two workers beside an API, each a process: the one that sends an imported file to a hosted provider is
// killed, and the other one continues the upload there.
import { readFile, rm } from 'node:fs/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulators, startSimulators } from '../../simulators/simulators.ts';
import { ffmpegPath, makeClip } from '../support/clips.ts';
import { file, type FileServer, startFileServer } from '../support/file-server.ts';
import { HOSTED } from '../support/hosted.ts';
import { idsAt } from '../support/hosted-imports.ts';
import { type AssetJson, settled } from '../support/media.ts';
import { asUser, call, eventually, newDataDir, newDatabaseDir } from '../support/service.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../support/service-process.ts';
import { originalFiles } from '../support/traces.ts';

let folders: string[];
let postgres: EmbeddedPostgres;
let server: FileServer;
let sims: Simulators;
let api: ServiceProcess;
let worker: ServiceProcess;
let startWorker: () => Promise<ServiceProcess>;

beforeAll(async () => {
  folders = [await newDatabaseDir(), await newDataDir()];
  const [databaseDir = '', dataDir = ''] = folders;
  postgres = await startEmbeddedPostgres(databaseDir);
  server = await startFileServer();
  sims = await startSimulators({ stepMs: 20, ffmpegPath: ffmpegPath() });
  const shared = sharedBy({ postgres, dataDir, ffmpegPath: ffmpegPath() });
  const settings = { ...sims.environment, OUTBOUND_ALLOW_PRIVATE: 'import' };
  api = await startProcess({ ...shared, ...settings, MEDIARY_ROLE: 'api' });
  sims.sendWebhooksTo(new URL(api.url).origin);
  startWorker = () => startProcess({ ...workerOf(shared, api), ...settings });
  worker = await startWorker();
}, 120_000);

afterAll(async () => {
  await Promise.all([api, worker].map((process) => process.end('SIGKILL')));
  await endAllIn(folders[1] ?? '');
  await Promise.all([postgres.stop(), server.stop(), sims.stop()]);
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
});

test.each(HOSTED)(
  'a worker that is killed while it sends a file to %s is replaced',
  async (provider) => {
    const clip = await readFile(await makeClip({ seconds: 4 }));
    const patches = () => sims[provider].requests().filter(({ route }) => route === 'tus-patch').length;
    // The provider gets the first bytes, then the connection hangs.
    sims[provider].setFault({ on: 'api', route: 'tus-patch', do: 'slow', ms: 60_000, times: 1 });
    const { body } = await call<AssetJson>(api, 'POST /media/import', {
      headers: asUser('ann'),
      json: {
        url: server.serve(`/${provider}.mp4`, file(clip)),
        provider,
        filename: 'clip.mp4',
        mime_type: 'video/mp4',
      },
    });
    const { id } = body.data;
    await eventually(
      async () => patches(),
      (count) => count > 0,
      { withinMs: 60_000 },
    );
    await worker.end('SIGKILL');
    worker = await startWorker();

    const asset = await settled(api, 'ann', id);
    expect(asset).toMatchObject({ stream_status: 'ready', size_bytes: clip.length, failure: null });
    expect(idsAt({ sims }, provider)).toEqual([asset['provider_video_id']]);
    expect(server.requestsOf(`/${provider}.mp4`)).toHaveLength(1);
    await eventually(
      () => originalFiles(folders[1] ?? '', id),
      (files) => files.length === 0,
    );
  },
  180_000,
);
