// After any fault of a hosted provider a video reaches a state with a reason, at the latest after two
// reconcile runs (contract B6).
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { manualClock } from '../../../simulators/clock.ts';
import type { EdgehostVideo } from '../../../simulators/edgehost/video.ts';
import type { Fault } from '../../../simulators/fault.ts';
import {
  HOSTED,
  type HostedName,
  type Hosts,
  startHosts,
  timelineOf,
  uploadTo,
} from '../../support/providers/hosted.ts';
import { type AssetJson, readAsset } from '../../support/media.ts';

const BYTES = Buffer.alloc(5000, 'not looked at by a simulator without an engine');
/** Longer than a film of unknown length is given. */
const DEADLINE_MINUTES = 15;

/** All that a provider does and says, done when it returns. */
const FILM_MS = 60_000;
const clock = manualClock();
let hosts: Hosts;
beforeAll(async () => {
  hosts = await startHosts({ clock });
});
afterAll(() => hosts?.stop());
afterEach(() => hosts.sims.reset());

type Ending = {
  readonly status: string;
  readonly code?: string;
  readonly warning?: string;
  readonly says?: string;
};
type Row = readonly [what: string, faults: readonly Fault[], ending: Ending, only?: HostedName];

const READY: Ending = { status: 'ready' };
const REPAIRED: Ending = { status: 'ready', says: 'repaired' };
const failsWith = (code: number | string): Fault[] => [{ on: 'encoding', do: 'fail', code }];

const ROWS: readonly Row[] = [
  ['nothing wrong', [], READY],
  ['every webhook is lost', [{ on: 'webhook', do: 'drop' }], REPAIRED],
  ['every webhook is signed wrongly', [{ on: 'webhook', do: 'wrong_signature' }], REPAIRED],
  ['every webhook comes twice', [{ on: 'webhook', do: 'duplicate' }], READY],
  ['webhooks are late', [{ on: 'webhook', do: 'delay', ms: 300 }], READY],
  ['webhooks overtake each other', [{ on: 'webhook', do: 'reorder', ms: 200 }], READY],
  [
    'an encoding never ends',
    [{ on: 'encoding', do: 'never_finish' }],
    { status: 'processing', says: 'still_processing' },
  ],
  ['an error, then all is well', [{ on: 'encoding', do: 'recover' }], READY],
  [
    'a failure that is never told',
    [{ on: 'webhook', do: 'drop' }, ...failsWith('')],
    { status: 'failed', says: 'repaired' },
  ],
  ['only the lowest rung is ever made', [{ on: 'encoding', do: 'partial' }], READY],
  ['the file is corrupt', failsWith(7), { status: 'failed', code: 'not_media' }, 'cdnhost'],
  ['the film is too long', failsWith(5), { status: 'failed', code: 'too_long' }, 'cdnhost'],
  [
    'the upload breaks off at the provider',
    [{ on: 'encoding', do: 'upload_failed' }],
    { status: 'failed' },
    'cdnhost',
  ],
  ['no film in the file', failsWith('ERR_NON_VIDEO'), { status: 'failed', code: 'not_media' }, 'edgehost'],
  ['a malformed file', failsWith('ERR_MALFORMED_VIDEO'), { status: 'failed', code: 'not_media' }, 'edgehost'],
  [
    'too short a film',
    failsWith('ERR_DURATION_TOO_SHORT'),
    { status: 'failed', code: 'too_short' },
    'edgehost',
  ],
  [
    'too long a film',
    failsWith('ERR_DURATION_EXCEED_CONSTRAINT'),
    { status: 'failed', code: 'too_long' },
    'edgehost',
  ],
  [
    'an error without a name',
    failsWith('ERR_UNKNOWN'),
    { status: 'failed', code: 'encode_failed' },
    'edgehost',
  ],
  [
    'the requests of the reconcile job fail once',
    [
      { on: 'webhook', do: 'drop' },
      { on: 'api', do: 'status', status: 503, route: 'get', times: 1 },
    ],
    REPAIRED,
  ],
  [
    'the provider limits the requests of the reconcile job',
    [
      { on: 'webhook', do: 'drop' },
      { on: 'api', do: 'status', status: 429, retryAfter: 60, route: 'get', times: 1 },
    ],
    REPAIRED,
  ],
  [
    'the answer to a question is cut off',
    [
      { on: 'webhook', do: 'drop' },
      { on: 'api', do: 'cut', route: 'get', times: 1 },
    ],
    REPAIRED,
  ],
];

const FACTS = ['size_bytes', 'width', 'height', 'duration_ms', 'renditions'];
const factsOf = (asset: AssetJson) => FACTS.map((name) => asset[name]);

// Before the tests that move the clock far: the time of `ready` is the database's.
test('the facts that webhooks do not carry are asked for once, and change nothing else', async () => {
  const { id } = await uploadTo(hosts.service, 'cdnhost', BYTES);
  await clock.advance(FILM_MS);
  const ready = await readAsset(hosts.service, 'ann', id);
  expect([ready.stream_status, ...factsOf(ready)]).toEqual(['ready', null, null, null, null, []]);
  hosts.sims.cdnhost.setFault({ on: 'api', do: 'status', status: 503, route: 'get', times: 1 });
  await hosts.reconcileIn(1);
  expect((await timelineOf(hosts.service, id)).at(-1)).toMatchObject({
    type: 'asset.checked',
    sentence: expect.stringMatching(/did not report its duration and size\..* Next check/),
  });
  await hosts.reconcileIn(DEADLINE_MINUTES);
  const asked = await readAsset(hosts.service, 'ann', id);
  expect(factsOf(asked)).toEqual([
    BYTES.length,
    expect.any(Number),
    expect.any(Number),
    expect.any(Number),
    expect.arrayContaining([expect.objectContaining({ height: 240, state: 'ready' })]),
  ]);
  expect(asked).toMatchObject({ stream_status: 'ready', playback: ready['playback'], warnings: [] });
  expect((await timelineOf(hosts.service, id)).at(-1)).toMatchObject({
    type: 'asset.updated',
    source: 'inspect',
    details: { fields: FACTS },
  });
  const { length } = await timelineOf(hosts.service, id);
  await hosts.sims.cdnhost.sendWebhook(String(asked['provider_video_id']), 3);
  await hosts.reconcileIn(DEADLINE_MINUTES);
  expect(await timelineOf(hosts.service, id)).toHaveLength(length);
  await hosts.sims.cdnhost.sendWebhook(String(asked['provider_video_id']), 5);
  expect(await readAsset(hosts.service, 'ann', id)).toMatchObject({
    stream_status: 'ready',
    warnings: [{ code: 'encoding_incomplete' }],
  });
});

const readyAtOf = async (id: string) => (await readAsset(hosts.service, 'ann', id))['ready_at'];

test('cdnhost: the last rendition counts, though its webhook is lost', async () => {
  hosts.sims.cdnhost.setFault({ on: 'webhook', do: 'drop', when: 3 });
  const { id } = await uploadTo(hosts.service, 'cdnhost', BYTES);
  await clock.advance(FILM_MS);
  expect(await readyAtOf(id)).toBeNull();
  await hosts.reconcileIn(DEADLINE_MINUTES);
  expect(await readAsset(hosts.service, 'ann', id)).toMatchObject({
    stream_status: 'ready',
    ready_at: expect.any(String),
  });
});

test.for<[string, Fault[]]>([
  ['the webhook comes before it', []],
  ['every webhook is lost', [{ on: 'webhook', do: 'drop' }]],
])('edgehost: the last rendition counts, though %s', async ([, faults]) => {
  hosts.sims.edgehost.setFault({ on: 'encoding', do: 'partial' }, ...faults);
  const { id } = await uploadTo(hosts.service, 'edgehost', BYTES);
  await clock.advance(FILM_MS);
  await hosts.reconcileIn(DEADLINE_MINUTES);
  expect(await readAsset(hosts.service, 'ann', id)).toMatchObject({ stream_status: 'ready', ready_at: null });
  const { status } = hosts.sims.edgehost.videos().at(-1) as EdgehostVideo;
  Object.assign(status, { pctComplete: '100.000000' });
  await hosts.reconcileIn(2 * 60);
  expect(await readyAtOf(id)).toEqual(expect.any(String));
  expect((await timelineOf(hosts.service, id)).at(-1)).toMatchObject({
    type: 'asset.updated',
    details: { fields: ['ready_at'] },
  });
});

/** What concerns questions begins after `complete` has asked its own. */
const isOfQuestions = ({ on }: Fault) => on === 'api';

describe.each(HOSTED)('%s', (provider) => {
  test.for(ROWS.filter(([, , , only]) => only === undefined || only === provider))(
    '%s',
    async ([, faults, ending]) => {
      hosts.sims[provider].setFault(...faults.filter((fault) => !isOfQuestions(fault)));
      const { id } = await uploadTo(hosts.service, provider, BYTES);
      await clock.advance(FILM_MS);
      hosts.sims[provider].setFault(...faults.filter(isOfQuestions));
      const before = await readAsset(hosts.service, 'ann', id);
      for (let check = 0; check < 2; check++) await hosts.reconcileIn(DEADLINE_MINUTES);
      const asset = await readAsset(hosts.service, 'ann', id);
      const timeline = await timelineOf(hosts.service, id);
      expect(
        {
          status: asset.stream_status,
          ...(ending.code && { code: asset.failure?.code }),
          says: timeline.map(({ details }) => details['reason']),
        },
        JSON.stringify({ before, timeline }),
      ).toEqual({
        status: ending.status,
        ...(ending.code && { code: ending.code }),
        says: ending.says ? expect.arrayContaining([ending.says]) : expect.anything(),
      });
      if (asset.stream_status === 'failed')
        expect(asset.failure).toMatchObject({
          code: expect.stringMatching(/^[a-z_]+$/),
          message: expect.stringMatching(/\S/),
        });
      if (asset.stream_status === 'processing')
        expect(timeline.at(-1)?.details['next_check_at']).toEqual(expect.any(String));
      // Two checks found that it is late.
      if (ending.says === 'still_processing')
        expect(timeline.filter(({ type }) => type === 'asset.delayed')).toMatchObject([
          { details: { reason: 'provider_slow', message: expect.any(String) } },
        ]);
    },
  );
});

test('a provider that does not tell the facts for a day is asked no more', async () => {
  const { id } = await uploadTo(hosts.service, 'cdnhost', BYTES);
  await clock.advance(FILM_MS);
  hosts.sims.cdnhost.setFault({ on: 'api', do: 'status', status: 503, route: 'get' });
  await hosts.reconcileIn(24 * 60);
  const last = (await timelineOf(hosts.service, id)).at(-1);
  expect(last).toMatchObject({ details: { reason: 'facts_given_up', code: 'provider_error' } });
  expect(last?.details).not.toHaveProperty('next_check_at');
  expect(await readAsset(hosts.service, 'ann', id)).toMatchObject({ stream_status: 'ready', warnings: [] });
});
