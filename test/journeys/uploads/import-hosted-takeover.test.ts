// Two workers beside an API, each a process: the one that sends an imported file to a hosted provider is
// killed, and the other one continues the upload there.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulators, startSimulators } from '../../../simulators/simulators.ts';
import { ffmpegPath, makeClip } from '../../support/clips/clips.ts';
import { file, type FileServer, startFileServer } from '../../support/http/file-server.ts';
import { HOSTED } from '../../support/providers/hosted.ts';
import { idsAt } from '../../support/providers/hosted-imports.ts';
import { type AssetJson, settled } from '../../support/media.ts';
import { type ReplaceableWorker, startReplaceableWorker } from '../../support/service/replaceable-worker.ts';
import { asUser, call, eventually } from '../../support/service.ts';
import { originalFiles } from '../../support/service/traces.ts';

let server: FileServer;
let sims: Simulators;
let processes: ReplaceableWorker;
let api: ReplaceableWorker['api'];

beforeAll(async () => {
  server = await startFileServer();
  sims = await startSimulators({ stepMs: 20, ffmpegPath: ffmpegPath() });
  processes = await startReplaceableWorker({ ...sims.environment, OUTBOUND_ALLOW_PRIVATE: 'import' });
  ({ api } = processes);
  sims.sendWebhooksTo(new URL(api.url).origin);
});
afterAll(async () => {
  await processes?.stop();
  await Promise.all([server.stop(), sims.stop()]);
});

test.each(HOSTED)(
  'a worker that is killed while it sends a file to %s is replaced',
  async (provider) => {
    const clip = await readFile(await makeClip({ seconds: 4 }));
    const patches = () => sims[provider].requests().filter(({ route }) => route === 'tus-patch').length;
    // The provider stores the bytes, but its response is late.
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
      { withinMs: 120_000 },
    );
    await processes.replaceWorker();

    const asset = await settled(api, 'ann', id);
    expect(asset).toMatchObject({ stream_status: 'ready', size_bytes: clip.length, failure: null });
    expect(idsAt({ sims }, provider)).toEqual([asset['provider_video_id']]);
    expect(server.requestsOf(`/${provider}.mp4`)).toHaveLength(1);
    await eventually(
      () => originalFiles(processes.dataDir, id),
      (files) => files.length === 0,
    );
  },
  180_000,
);
