// Tests when the further files of a run are shown.
import { expect, test } from 'vitest';
import { createVideo } from '../../lifecycle/asset.fixture.ts';
import { decideExtras, stateOfRun } from './publish-extras.ts';

const run = { folder: '2-1' };
const made = { ...run, extras: ['storyboard', 'mp4'] } as const;
const own = { kind: 'own', attempt: 2, folder: '2-1', posterTimeMs: 7 } as const;
const ready = createVideo({ stream_status: 'ready', attempt: 2, playback: own });

test.each([
  ['published', ready],
  ['superseded', createVideo({ ...ready, playback: { ...own, folder: '2-2' } })],
  ['superseded', createVideo({ ...ready, playback: null })],
  ['awaited', createVideo({ stream_status: 'processing', attempt: 2, encoded_run: 1 })],
  ['superseded', createVideo({ stream_status: 'processing', attempt: 3, encoded_run: 1 })],
  ['superseded', createVideo({ stream_status: 'processing', attempt: 2, encoded_run: 0 })],
] as const)('a run is %s', (state, asset) => expect(stateOfRun(asset, run)).toBe(state));

test('the files of the published run are shown with one event', () => {
  expect(decideExtras(ready, made)).toEqual({
    set: { playback: { ...own, extras: made.extras } },
    events: [
      {
        type: 'asset.updated',
        data: { attempt: 2, source: 'service', fields: ['playback'], extras: made.extras },
      },
    ],
    jobs: [],
  });
});

test('that there are none is told too, once', () => {
  const none = { ...run, extras: [] };
  const decision = { set: { playback: { extras: [] } }, events: [{ data: { extras: [] } }] };
  expect(decideExtras(ready, none)).toMatchObject(decision);
  expect(decideExtras(createVideo({ ...ready, playback: { ...own, extras: [] } }), none)).toBeUndefined();
  const shown = createVideo({ ...ready, playback: { ...own, extras: made.extras } });
  expect(decideExtras(shown, none)).toBeUndefined();
});

test('nothing changes when they are shown, and for other runs', () => {
  const shown = createVideo({ ...ready, playback: { ...own, extras: made.extras } });
  expect(decideExtras(shown, made)).toBeUndefined();
  expect(decideExtras(ready, { ...made, folder: '2-2' })).toBeUndefined();
  expect(
    decideExtras(createVideo({ stream_status: 'processing', attempt: 2, encoded_run: 1 }), made),
  ).toBeUndefined();
});

test('an asset in the trash gets them without an event', () => {
  const trashed = createVideo({ ...ready, deleted_at: new Date(), purge_at: new Date() });
  expect(decideExtras(trashed, made)).toMatchObject({
    events: [],
    set: { playback: { extras: made.extras } },
  });
});
