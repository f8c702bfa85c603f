// An operator sets a target loudness: videos and audio files play as loud as it says.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { loudness } from '../../support/clips/picture-and-sound.ts';
import { makeSound } from '../../support/clips/sounds.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

const ANN = asUser('ann');
const TARGET = -20;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ LOUDNESS_TARGET_LUFS: String(TARGET), VIDEO_EXTRAS: 'none' });
});
afterAll(() => service.stop());

type Audio = { readonly loudness_lufs: number; readonly gain_db: number };

/** The asset tells both numbers; the stream has their sum. */
async function expectPlayedAt(target: number, { id, media }: AssetJson): Promise<void> {
  const [track] = (media as { audio: Audio[] }).audio as [Audio];
  expect(track.loudness_lufs + track.gain_db).toBeCloseTo(target, 1);
  expect(track.gain_db).not.toBe(0);
  const { data } = (await call<{ hls: string }>(service, `GET /media/${id}/playback`, { headers: ANN })).body;
  const { lufs } = await loudness({ url: data.hls, stream: 'a:0' });
  expect(Math.abs(lufs - target)).toBeLessThanOrEqual(1);
}

test('a video whose stream is copied', async () => {
  const file = await makeClip({ seconds: 5 });
  await expectPlayedAt(TARGET, await ingest(service, 'ann', { file }));
});

test('an audio file', async () => {
  const file = await makeSound();
  const fields = { filename: 'song.mp3', content_type: 'audio', mime_type: 'audio/mpeg' };
  await expectPlayedAt(TARGET, await ingest(service, 'ann', { file, fields }));
});
