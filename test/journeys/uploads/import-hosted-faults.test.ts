// Imports to hosted providers that fail, cut connections or are slow, and imports that end in between
// (contract B4).
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../../simulators/fault.ts';
import { file, paced } from '../../support/http/file-server.ts';
import { HOSTED, type HostedName, timelineOf } from '../../support/providers/hosted.ts';
import {
  expectHostedImport,
  type HostedImports,
  idsAt,
  progressOf,
  startHostedImport,
  startHostedImports,
  untilStatus,
} from '../../support/providers/hosted-imports.ts';
import { expectNoFiles, sourcesOf } from '../../support/uploads/imports.ts';
import { asUser, call, eventually } from '../../support/service.ts';

let imports: HostedImports;
let service: HostedImports['service'];
let clip: Buffer;
beforeAll(async () => {
  imports = await startHostedImports();
  ({ service, clip } = imports);
});
afterAll(() => imports?.stop());
afterEach(() => imports.sims.reset());

const serve = () => imports.server.serve('/clip.mp4', file(clip));
const start = (provider: HostedName) => startHostedImport(imports, provider, { url: serve() });
const untilEnded = (id: string) => untilStatus(imports, id, 'ready', 'failed');
const routesOf = (provider: HostedName) => imports.sims[provider].requests().map(({ route }) => route);
const untilRoute = (provider: HostedName, name: string) =>
  eventually(
    async () => routesOf(provider),
    (routes) => routes.includes(name),
  );
const checksOf = async (id: string) =>
  (await timelineOf(service, id)).filter(({ type }) => type === 'asset.checked');
const isVideo = (provider: HostedName) => async () => idsAt(imports, provider).length;

type Row = readonly [what: string, fault: Fault];
const api = { on: 'api', times: 1 } as const;

const ROWS: readonly Row[] = [
  ['an error while the video is created', { ...api, do: 'status', status: 500 }],
  ['a rate limit', { ...api, do: 'status', status: 429, retryAfter: 1 }],
  ['a rate limit for bytes', { ...api, route: 'tus-patch', do: 'status', status: 429, retryAfter: 1 }],
  ['an error for bytes', { ...api, route: 'tus-patch', do: 'status', status: 500, times: 2 }],
  ['a cut in the bytes', { ...api, route: 'tus-patch', do: 'cut', afterBytes: 30_000, times: 2 }],
  ['a cut before the offset is known', { ...api, route: 'tus-head', do: 'cut' }],
  ['a lost response to the last byte', { ...api, route: 'tus-patch', do: 'lose_answer' }],
  ['a lost response to the creation of the video', { ...api, do: 'lose_answer' }],
];

describe.each(HOSTED)('%s', (provider) => {
  test.each(ROWS)(
    'the import ends well after %s',
    async (_what, fault) => {
      imports.sims[provider].setFault(fault);
      const { id } = await start(provider);
      const asset = await untilEnded(id);
      expect(asset).toMatchObject({ stream_status: 'ready', failure: null, size_bytes: clip.length });
      await expectNoFiles(service, id);
      expect(idsAt(imports, provider)).toContain(asset['provider_video_id']);
    },
    90_000,
  );

  test('a transfer continues where it was cut', async () => {
    const cut: Fault = { ...api, route: 'tus-patch', do: 'cut', afterBytes: 50_000, times: 6 };
    imports.sims[provider].setFault(cut);
    const { id } = await startHostedImport(imports, provider, {
      url: imports.server.serve('/paced.mp4', paced(clip, { parts: 12, everyMs: 250 })),
    });
    await expectHostedImport(imports, provider, await untilEnded(id));
    expect(routesOf(provider).filter((name) => name === 'tus-create')).toHaveLength(1);
    const progress = await progressOf(imports, id);
    const bytes = progress.map((event) => Number(event['bytes']));
    expect(bytes).toEqual(bytes.toSorted((a, b) => a - b));
    expect(progress.at(0)).toMatchObject({
      step: 'download',
      total_bytes: 2 * clip.length,
      sentence: expect.stringMatching(RegExp(`^The service imported \\d+ of ${clip.length} bytes`)),
    });
    expect(progress.at(-1)).toMatchObject({
      step: 'transfer',
      total_bytes: 2 * clip.length,
      sentence: expect.stringMatching(RegExp(`^The service sent \\d+ of ${clip.length} bytes`)),
    });
  });

  test('an asset that is deleted during its transfer leaves nothing', async () => {
    imports.sims[provider].setFault({ on: 'api', do: 'status', route: 'tus-patch', status: 503 });
    const { id } = await start(provider);
    await untilRoute(provider, 'tus-patch');
    await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
    await expectNoFiles(service, id);
    await eventually(isVideo(provider), (count) => count === 0);
    await eventually(
      () => service.adapters.jobs.hasOpenJob('transfer-import', { provider, assetId: id, attempt: 1 }),
      (isOpen) => !isOpen,
    );
    expect(await sourcesOf(service, id)).toEqual([]);
  });

  test('a provider that refuses the file fails the import, and a retry imports it again', async () => {
    imports.sims[provider].setFault({ ...api, route: 'tus-create', do: 'status', status: 400 });
    const { id } = await start(provider);
    const failed = await untilEnded(id);
    expect(failed).toMatchObject({
      stream_status: 'failed',
      failure: { code: 'provider_rejected', retryable: true },
    });
    await expectNoFiles(service, id);
    await eventually(isVideo(provider), (count) => count === 0);

    const retried = await call(service, `POST /media/${id}/retry?expand=asset`, { headers: asUser('ann') });
    expect(retried.body.data).toMatchObject({ asset: { stream_status: 'pending_upload' }, upload: null });
    await expectHostedImport(imports, provider, await untilEnded(id));
    expect(imports.server.requestsOf('/clip.mp4').length).toBeGreaterThanOrEqual(2);
  });
});

test('the timeline says why a transfer waits', async () => {
  imports.sims.cdnhost.setFault({ ...api, do: 'status', status: 500 });
  const { id } = await start('cdnhost');
  await untilEnded(id);
  expect(await checksOf(id)).toMatchObject([
    { source: 'service', details: { code: 'provider_error', provider_code: 'status 500' } },
  ]);
});
