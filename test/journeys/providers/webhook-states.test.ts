// Which state each report of a provider sets (contract A6, B6).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openUpload, readAsset } from '../../support/media.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { LIBRARY, linkVideo, notProcessed, PROCESSED, tell } from '../../support/providers/webhooks.ts';

const NOT_ACTIONABLE = notProcessed('not_actionable');

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY) });
});
afterAll(() => service?.stop());

describe('a report of cdnhost', () => {
  const newVideo = async () => {
    const guid = randomUUID();
    const { asset_id: id } = await linkVideo(service, { provider: 'cdnhost', provider_video_id: guid });
    const say = (members: object) =>
      tell(service, 'cdnhost', { VideoLibraryId: LIBRARY, VideoGuid: guid, ...members });
    return { say, statusOf: async () => (await readAsset(service, 'ann', id)).stream_status };
  };

  test.each([
    [3, 'ready'],
    [4, 'ready'],
    [7, 'processing'],
    [5, 'failed'],
    [8, 'failed'],
  ])('with Status %d makes the asset %s', async (Status, expected) => {
    const { say, statusOf } = await newVideo();
    expect(await say({ Status })).toEqual(PROCESSED);
    expect(await statusOf()).toBe(expected);
    expect(await say({ Status })).toEqual(PROCESSED);
  });

  test('with another Status changes nothing', async () => {
    const { say, statusOf } = await newVideo();
    for (const Status of [0, 1, 2, 6, 9, 10, 99, -3, '3', [3], { a: 3 }, true, null, undefined, 1e20])
      expect([Status, await say({ Status })]).toEqual([Status, NOT_ACTIONABLE]);
    for (const member of ['VideoGuid', 'VideoLibraryId'])
      expect(await say({ Status: 3, [member]: { a: 1 } })).toEqual(NOT_ACTIONABLE);
    expect(
      await tell(
        service,
        'cdnhost',
        `{"VideoLibraryId":${LIBRARY},"VideoGuid":"${randomUUID()}","Status":3.0000000000000001}`,
      ),
    ).toEqual(NOT_ACTIONABLE);
    expect(await statusOf()).toBe('pending_upload');
  });

  test('with a repeated Status uses the last one', async () => {
    const { asset_id: id } = await linkVideo(service, {
      provider: 'cdnhost',
      provider_video_id: `${LIBRARY}-twice`,
    });
    const say = (statuses: string) =>
      tell(service, 'cdnhost', `{"VideoLibraryId":${LIBRARY},"VideoGuid":"${LIBRARY}-twice",${statuses}}`);
    expect(await say('"Status":3,"Status":99')).toEqual(NOT_ACTIONABLE);
    expect(await say('"Status":3,"Status":7')).toEqual(PROCESSED);
    expect((await readAsset(service, 'ann', id)).stream_status).toBe('processing');
  });

  test('of another library changes nothing', async () => {
    const { say, statusOf } = await newVideo();
    for (const Status of [3, 5, 7, 99])
      expect(await say({ Status, VideoLibraryId: LIBRARY + 1 })).toEqual(notProcessed('wrong_library'));
    expect(await statusOf()).toBe('pending_upload');
  });
});

describe('a report of edgehost', () => {
  test.each([
    ['ready', 'ready'],
    ['error', 'failed'],
  ])('with state %s makes the asset %s', async (state, expected) => {
    const uid = randomUUID();
    const { asset_id: id } = await linkVideo(service, { provider: 'edgehost', provider_video_id: uid });
    for (const other of [
      'pendingupload',
      'downloading',
      'queued',
      'inprogress',
      'live-inprogress',
      'READY',
      null,
      3,
      ['ready'],
    ]) {
      expect(await tell(service, 'edgehost', { uid, status: { state: other } })).toEqual(NOT_ACTIONABLE);
    }
    expect((await readAsset(service, 'ann', id)).stream_status).toBe('pending_upload');
    expect(await tell(service, 'edgehost', { uid, status: { state } })).toEqual(PROCESSED);
    expect((await readAsset(service, 'ann', id)).stream_status).toBe(expected);
  });
});

describe('a report of onprem', () => {
  test.each(['processing', 'ready', 'failed'])('with status %s makes the asset that', async (status) => {
    const { asset_id: id } = await openUpload(service, 'ann');
    for (const other of ['Ready', 'queued', 'pending_upload', '', 3, null, { state: 'ready' }])
      expect(await tell(service, 'onprem', { asset_id: id, status: other })).toEqual(NOT_ACTIONABLE);
    for (const bad of ['', 'x', `${id}0`, id.replaceAll('-', ''), `{${id}}`, 7, [id], null])
      expect(await tell(service, 'onprem', { asset_id: bad, status })).toEqual(NOT_ACTIONABLE);
    expect((await readAsset(service, 'ann', id)).stream_status).toBe('pending_upload');
    expect(await tell(service, 'onprem', { asset_id: id.toUpperCase(), status })).toEqual(PROCESSED);
    expect((await readAsset(service, 'ann', id)).stream_status).toBe(status);
  });
});
