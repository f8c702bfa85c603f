// Tests that the simulators with ffmpeg stream uploaded videos, and reject files that are not videos.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ffmpegPath, makeClip } from '../test/support/clips/clips.ts';
import { manualClock } from './clock.ts';
import { type Simulators, startSimulators } from './simulators.ts';

const clock = manualClock();
let simulators: Simulators;
let clip: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  simulators = await startSimulators({ clock, ffmpegPath: ffmpegPath() });
  clip = new Uint8Array(await readFile(await makeClip()));
});
afterAll(() => simulators.stop());

async function atCdnhost(body: Uint8Array<ArrayBuffer>): Promise<string> {
  const [url, headers] = [
    `${simulators.cdnhost.url}/library/4242/videos`,
    { AccessKey: 'simulated-key-of-a-library-that-may-write' },
  ];
  const { guid } = (await (
    await fetch(url, { method: 'POST', headers, body: '{"title":"film"}' })
  ).json()) as { guid: string };
  await fetch(`${url}/${guid}`, { method: 'PUT', headers, body });
  await clock.advance(60_000);
  return guid;
}

async function atEdgehost(body: Uint8Array<ArrayBuffer>, maxDurationSeconds: number): Promise<string> {
  const headers = { Authorization: 'Bearer simulated-api-token-of-an-account-that-may-write' };
  const url = `${simulators.edgehost.url}/client/v4/accounts/simulated-account/stream/direct_upload`;
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ maxDurationSeconds }) });
  const { result } = (await answer.json()) as { result: { uid: string; uploadURL: string } };
  const form = new FormData();
  form.append('file', new Blob([body]), 'film.mp4');
  await fetch(result.uploadURL, { method: 'POST', body: form });
  await clock.advance(60_000);
  return result.uid;
}

/** Follows a playlist to its first segment. */
async function firstSegment(url: string): Promise<{ init: Buffer; segment: Buffer }> {
  const get = async (at: string) => Buffer.from(await (await fetch(at)).arrayBuffer());
  const master = String(await get(url));
  const media = new URL(master.split('\n').find((line) => line.endsWith('.m3u8')) ?? '', url).href;
  const playlist = String(await get(media));
  const init = new URL(/EXT-X-MAP:URI="([^"]+)"/.exec(playlist)?.[1] ?? '', media).href;
  const segment = new URL(playlist.split('\n').find((line) => line.endsWith('.m4s')) ?? '', media).href;
  return { init: await get(init), segment: await get(segment) };
}

test('an uploaded clip is told by its real size and length, and its stream has real segments', async () => {
  const [guid, uid] = [await atCdnhost(clip), await atEdgehost(clip, 60)];
  expect(simulators.cdnhost.videos()[0]).toMatchObject({
    status: 4,
    width: 320,
    height: 180,
    length: 2,
    availableResolutions: '240p',
  });
  expect(simulators.edgehost.videos()[0]).toMatchObject({
    readyToStream: true,
    input: { width: 320, height: 180 },
    duration: expect.closeTo(2, 0),
  });
  for (const url of [
    `${simulators.cdnhost.url}/${guid}/playlist.m3u8`,
    `${simulators.edgehost.url}/${uid}/manifest/video.m3u8`,
  ]) {
    const { init, segment } = await firstSegment(url);
    expect([init.toString('latin1', 4, 8), segment.includes('moof'), segment.length > 1000]).toEqual([
      'ftyp',
      true,
      true,
    ]);
  }
  const picture = Buffer.from(
    await (await fetch(`${simulators.cdnhost.url}/${guid}/thumbnail.jpg`)).arrayBuffer(),
  );
  expect(picture.subarray(0, 2).toString('hex')).toBe('ffd8');
  expect(await (await fetch(`${simulators.edgehost.url}/${uid}/manifest/video.mpd`)).text()).toContain(
    '<MPD',
  );
});

test('what is no video fails, and what is longer than it may be', async () => {
  const words = new Uint8Array(Buffer.from('no film at all'));
  await atCdnhost(words);
  await atEdgehost(words, 60);
  await atEdgehost(clip, 1);
  expect(simulators.cdnhost.videos().at(-1)).toMatchObject({
    status: 5,
    transcodingMessages: [{ issueCode: 7 }],
  });
  expect(
    simulators.edgehost
      .videos()
      .slice(-2)
      .map(({ status }) => status.errorReasonCode),
  ).toEqual(['ERR_NON_VIDEO', 'ERR_DURATION_EXCEED_CONSTRAINT']);
});
