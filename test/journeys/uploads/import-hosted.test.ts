// Imports to hosted providers: the service downloads the file, checks it, and sends it on as a browser would
// (contract B4).
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal } from '../../support/http/envelope.ts';
import { cutAt, file, inTurn } from '../../support/http/file-server.ts';
import { HOSTED, timelineOf } from '../../support/providers/hosted.ts';
import {
  expectHostedImport,
  type HostedImports,
  idsAt,
  startHostedImport,
  startHostedImports,
  untilStatus,
} from '../../support/providers/hosted-imports.ts';
import { expectNoFiles, requestImport, sourcesOf } from '../../support/uploads/imports.ts';
import { asService, asUser, call, eventually, startTestService } from '../../support/service.ts';
import { uploadsOf } from '../../support/postgres/upload-rows.ts';

let imports: HostedImports;
let service: HostedImports['service'];
let server: HostedImports['server'];
let clip: Buffer;
beforeAll(async () => {
  imports = await startHostedImports();
  ({ service, server, clip } = imports);
});
afterAll(() => imports?.stop());
afterEach(() => imports.sims.reset());

describe.each(HOSTED)('%s', (provider) => {
  test('a video becomes ready and plays, and the service keeps no bytes', async () => {
    const url = server.serve('/clip.mp4', file(clip));
    const { id } = await startHostedImport(imports, provider, { url, visibility: 'public' });
    await expectHostedImport(imports, provider, await untilStatus(imports, id, 'ready', 'failed'));
    expect(await sourcesOf(service, id)).toEqual([]);
    const { body } = await call<{ hls: string }>(service, `GET /media/${id}/playback`, {
      headers: asUser('ann'),
    });
    expect((await fetch(body.data.hls)).status).toBe(200);
    const items = await timelineOf(service, id);
    const names = items.map(({ type, source }) => `${type} ${source}`);
    expect(names.filter((name) => !name.startsWith('asset.updated'))).toEqual(
      expect.arrayContaining(['asset.created caller', 'asset.uploaded service', 'asset.ready webhook']),
    );
    expect(await uploadsOf(service, id)).toMatchObject([
      { protocol: 'import', is_finished: true },
      { protocol: 'hosted', is_finished: true, bytes_received: clip.length },
    ]);
  });

  test('a source that is cut in the middle is continued', async () => {
    const etag = { etag: '"v1"' };
    const url = server.serve(
      '/cut.mp4',
      inTurn(cutAt(clip, Math.floor(clip.length / 2), etag), file(clip, etag)),
    );
    const { id } = await startHostedImport(imports, provider, { url });
    await expectHostedImport(imports, provider, await untilStatus(imports, id, 'ready', 'failed'));
    expect(server.requestsOf('/cut.mp4').at(-1)?.headers.range).toMatch(/^bytes=[1-9]/);
  });

  test('a file of another type is refused, and the provider never sees it', async () => {
    const url = server.serve('/page.mp4', file(Buffer.from('<html>not a video</html>')));
    const { id } = await startHostedImport(imports, provider, { url });
    const asset = await untilStatus(imports, id, 'failed');
    expect(asset).toMatchObject({ failure: { code: 'type_mismatch' }, provider_video_id: null });
    await expectNoFiles(service, id);
    expect(idsAt(imports, provider)).toEqual([]);
    expect(imports.sims[provider].requests()).toEqual([]);
  });

  test('complete waits for the service', async () => {
    const { setFault, clearFaults } = imports.sims[provider];
    setFault({ on: 'api', do: 'status', route: 'upload', status: 503 });
    const url = server.serve('/waits.mp4', file(clip));
    const { id } = await startHostedImport(imports, provider, { url });
    const complete = () => call(service, `POST /media/${id}/complete`, { headers: asUser('ann') });
    expectRefusal(await complete(), 400);
    await eventually(
      async () => idsAt(imports, provider),
      (ids) => ids.length > 0,
    );
    const waiting = await complete();
    expectRefusal(waiting, 400);
    expect(waiting.body.error?.details).toMatchObject({ reason: 'not_uploaded' });
    clearFaults();
    await expectHostedImport(imports, provider, await untilStatus(imports, id, 'ready', 'failed'));
  });
});

describe('the request', () => {
  test('a provider that is not configured is refused', async () => {
    const bare = await startTestService({ OUTBOUND_ALLOW_PRIVATE: 'import' });
    try {
      const url = server.serve('/bare.mp4', file(clip));
      const json = { url, filename: 'a.mp4', mime_type: 'video/mp4', provider: 'cdnhost' };
      const refused = await requestImport(bare, json);
      expectRefusal(refused, 400);
      expect(refused.body.error?.details).toMatchObject({ field: 'provider' });
    } finally {
      await bare.stop();
    }
  });

  test('the duration that the caller knows is reserved, and one that is too long is refused', async () => {
    const url = server.serve('/long.mp4', file(clip));
    const json = { url, filename: 'a.mp4', mime_type: 'video/mp4', provider: 'edgehost' };
    const tooLong = await requestImport(service, { ...json, duration_ms: 36_000_001 });
    expectRefusal(tooLong, 400);
    expect(tooLong.body.error?.details).toMatchObject({ field: 'duration_ms' });
    const headers = asService;
    const owned = { ...json, owner_user_id: 'ann', max_duration_s: 1234 };
    const { body } = await requestImport(service, owned, headers);
    const seen = await eventually(
      async () => imports.sims.edgehost.videos(),
      (videos) => videos.length > 0,
    );
    expect(seen).toMatchObject([{ maxDurationSeconds: 1234 }]);
    await untilStatus(imports, body.data.id, 'ready', 'failed');
  });

  test('the duration of the file is reserved where the caller gives none', async () => {
    const url = server.serve('/short.mp4', file(clip));
    const { id } = await startHostedImport(imports, 'edgehost', { url });
    await untilStatus(imports, id, 'ready', 'failed');
    expect(imports.sims.edgehost.videos()).toMatchObject([{ maxDurationSeconds: 10 }]);
  });

  test('a video that is linked to another asset cannot be named', async () => {
    const url = server.serve('/named.mp4', file(clip));
    const headers = asService;
    const { body } = await requestImport(
      service,
      {
        url,
        filename: 'a.mp4',
        mime_type: 'video/mp4',
        provider: 'cdnhost',
        owner_user_id: 'ann',
        provider_video_id: 'of-the-caller',
      },
      headers,
    );
    expect(body.data).toMatchObject({ provider_video_id: null });
    await untilStatus(imports, body.data.id, 'ready', 'failed');
  });
});
