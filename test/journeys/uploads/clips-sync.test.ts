// Clips keep picture and sound in sync, whatever file they are cut from (contract B4).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cutClip, playedStreams, uploadFilm } from '../../support/clips/cut-clips.ts';
import { beeps, flashes } from '../../support/clips/picture-and-sound.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

test.each([['mp4'], ['webm'], ['ts']] as const)('a clip of a %s file is in sync', async (container) => {
  const source = await uploadFilm(service, { seconds: 6, flashAndBeep: true, container });
  const clip = await cutClip(service, source.id, { start_ms: 1500, end_ms: 4500 });
  const { picture, sound } = await playedStreams(service, clip.id);
  const seen = await flashes(picture);
  expect(seen).toEqual([0.5, 1.5, 2.5].map((at) => expect.closeTo(at, 1)));
  expect(await beeps(sound)).toEqual(seen.map((at) => expect.closeTo(at, 1)));
});
