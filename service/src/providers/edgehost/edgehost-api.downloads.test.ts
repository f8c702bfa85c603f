// Tests downloads and storage of the edgehost API: what is requested, reserved and refused.
import { describe, expect, test } from 'vitest';
import {
  DOWNLOADS,
  FORM,
  NOW,
  result,
  UID,
  useEdgehostApi,
} from '../../../../test/support/providers/edgehost-api.ts';
import { createSettings } from '../../platform/settings/read-settings.ts';
import { ORDER } from '../hosted-api.contract.ts';
import { readEdgehostSettings } from './edgehost-provider.ts';

describe('the API of edgehost', () => {
  const { peer, apiWith, lastBody } = useEdgehostApi();

  test("returns an existing download with the asset's file name", async () => {
    const download = (
      value: unknown,
      more: Record<string, string | undefined> = { EDGEHOST_SIGNING_KEY_ID: undefined },
    ) => {
      peer().answerWith(result(value));
      return apiWith(more).createDownloadUrl({
        videoId: UID,
        filename: 'Über uns (1).final.mp4',
        expires: NOW + 3600,
      });
    };
    const ready = (url: unknown) => ({ state: 'ready', url });
    expect(await download(DOWNLOADS)).toEqual(ready(`${DOWNLOADS.default.url}?filename=Uber_uns_1_final`));
    const signed = await download(DOWNLOADS, {});
    expect(signed).toMatchObject({ state: 'ready' });
    expect(signed && 'url' in signed && signed.url).toMatch(
      /^https:\/\/c\.example\/(?:ey[\w-]+\.){2}[\w-]+\/downloads\/default\.mp4\?filename=Uber_uns_1_final$/,
    );
    expect(await download({ default: { status: 'ready', url: 'https://c.example/d.mp4?a=1' } })).toEqual(
      ready('https://c.example/d.mp4?a=1&filename=Uber_uns_1_final'),
    );
    for (const file of [
      { ...DOWNLOADS.default, status: 'error' },
      { status: 'ready', url: 'javascript:alert(1)' },
    ])
      expect(await download({ default: file })).toBeUndefined();
  });

  test('requests a download that does not exist, once the video is ready', async () => {
    const request = { videoId: UID, filename: 'a.mp4', expires: NOW + 3600 };
    const inProgress = result({ default: { ...DOWNLOADS.default, status: 'inprogress' } });
    const answerTo = (post: typeof inProgress | { status: number }) =>
      peer().answerWith(({ method }) => (method === 'POST' ? post : result({})));
    answerTo(inProgress);
    expect(await apiWith({}).createDownloadUrl(request)).toEqual({
      state: 'preparing',
      retryAfterSeconds: 10,
    });
    expect(peer().requests.at(-1)).toMatchObject({
      method: 'POST',
      path: `/v4/accounts/account-1/stream/${UID}/downloads`,
    });
    const before = peer().requests.length;
    peer().answerWith(inProgress);
    expect(await apiWith({}).createDownloadUrl(request)).toMatchObject({ state: 'preparing' });
    expect(peer().requests.length - before).toBe(1);
    answerTo({ status: 400 });
    expect(await apiWith({}).createDownloadUrl(request)).toBeUndefined();
    answerTo({ status: 500 });
    await expect(apiWith({}).createDownloadUrl(request)).rejects.toMatchObject({
      failure: { code: 'provider_error' },
    });
  });

  test('reports storage that is full as a failure of its own', async () => {
    const message = 'Storage capacity exceeded';
    peer().answerWith({ status: 413, body: { success: false, errors: [{ code: 10011, message }] } });
    await expect(apiWith({}).prepareUpload(ORDER)).rejects.toMatchObject({
      failure: { code: 'provider_quota', retryable: true },
      providerCode: 'error 10011',
    });
  });

  test('reserves what the caller announced, and EDGEHOST_MAX_DURATION_S otherwise', async () => {
    peer().answerWith(result(FORM));
    const settings = { EDGEHOST_MAX_DURATION_S: '120' };
    await apiWith(settings).prepareUpload(ORDER);
    expect(lastBody()).toMatchObject({ maxDurationSeconds: 120 });
    await apiWith(settings).prepareUpload({ ...ORDER, maxDurationSeconds: 611 });
    expect(lastBody()).toMatchObject({ maxDurationSeconds: 611 });
    for (const value of ['0', '36001', '1.5', 'x']) {
      const invalid = createSettings({ EDGEHOST_MAX_DURATION_S: value });
      readEdgehostSettings(invalid);
      expect(invalid.problems).toEqual(['EDGEHOST_MAX_DURATION_S must be a whole number from 1 to 36000']);
    }
  });
});
