// Operators replay many deliveries: of one asset, of a time range, in pages (contract B6).
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { timeOf } from '../../../service/src/platform/values/uuid.ts';
import { openUpload } from '../../support/media.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { type ReplayPage, replaysOf } from '../../support/providers/replays.ts';
import { deliveriesOf, READY, tell } from '../../support/providers/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', CDNHOST_STREAM_HOSTNAME: 'vz-1.example' });
});
afterAll(() => service?.stop());

const { replay, read, putBack, readyVideo, idsOf } = replaysOf(() => service);

describe('many deliveries', () => {
  test('of one asset are replayed in the order of receipt, and other assets do not change', async () => {
    const [mine, other] = [await readyVideo(), await readyVideo()];
    await putBack(mine.id, other.id);
    const { items } = await replay({ asset_id: mine.id, dry_run: false });
    expect(items.map(({ id }) => id)).toEqual(await idsOf(mine.id));
    expect(items.map(({ stream_status_after: after }) => after)).toEqual(['processing', 'ready']);
    expect(await read(mine.id)).toMatchObject({ stream_status: 'ready', playback: mine['playback'] });
    expect((await read(other.id)).stream_status).toBe('processing');
  });

  test('of a time range are replayed, without those at its start and its end', async () => {
    const videos = [await readyVideo(), await readyVideo(), await readyVideo(), await readyVideo()];
    await putBack(...videos.map(({ id }) => id));
    const timesOf = async ({ id }: { readonly id: string }) =>
      (await deliveriesOf(service, id)).map((delivery) => timeOf(delivery.id));
    const [earlier, , , later] = await Promise.all(videos.map(timesOf));
    const [first, last] = [earlier?.at(-1), later?.[0]];
    await replay({
      created_after: first?.toISOString(),
      created_before: last?.toISOString(),
      dry_run: false,
    });
    expect(await Promise.all(videos.map(async ({ id }) => (await read(id)).stream_status))).toEqual([
      'processing',
      'ready',
      'ready',
      'processing',
    ]);
  });

  test('are replayed in pages without gaps', async () => {
    const { id } = await readyVideo();
    await tell(service, 'onprem', READY.onprem(id));
    const pages: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: ReplayPage = await replay({ asset_id: id, limit: 2, cursor });
      pages.push(page.items.map((item) => item.id));
      cursor = page.next_cursor;
    }
    const [a, b, c] = await idsOf(id);
    expect(pages).toEqual([[a, b], [c]]);
  });

  test('have exactly the results of their dry run', async () => {
    const word = fc.record({
      status: fc.constantFrom('processing', 'ready', 'failed', 'paused'),
      progress: fc.nat(100),
      attempt: fc.constantFrom(undefined, 1, 2),
      playback: fc.constantFrom(undefined, { hls: 'https://v.example/1' }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 6 }), async (words) => {
        const { asset_id: id } = await openUpload(service, 'ann');
        for (const said of words) await tell(service, 'onprem', { asset_id: id, ...said });
        await putBack(id);
        const tried = await replay({ asset_id: id });
        expect(await replay({ asset_id: id, dry_run: false })).toEqual({ ...tried, dry_run: false });
        expect((await read(id)).stream_status).toBe(tried.items.at(-1)?.stream_status_after ?? 'processing');
      }),
      { numRuns: 15 },
    );
  });
});
