// An unreachable hosted provider causes 503 at once, is not called for a while, and keeps no orphaned video
// (contract B7).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Fault } from '../../../simulators/fault.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import {
  askUpload,
  HOSTED,
  type HostedName,
  type Hosts,
  startHosts,
  timelineOf,
} from '../../support/providers/hosted.ts';
import { readAsset, type Started, VIDEO } from '../../support/media.ts';
import { type Answer, asUser, call, eventually, SECRETS } from '../../support/service.ts';

let hosts: Hosts;
beforeAll(async () => {
  hosts = await startHosts({}, { LOG_LEVEL: 'error' });
});
afterAll(() => hosts?.stop());
/** Every pause is over, and every circuit has seen a success. */
beforeEach(async () => {
  hosts.sims.reset();
  await hosts.reconcileIn(10);
  for (const provider of HOSTED) expect((await askUpload(hosts.service, provider)).status).toBe(200);
  hosts.sims.reset();
});

const CREATE: Readonly<Record<HostedName, string>> = { cdnhost: 'create', edgehost: 'direct-upload' };
const list = async (): Promise<{ id: string }[]> =>
  (await call<{ items: { id: string }[] }>(hosts.service, 'GET /media?limit=1', { headers: asUser('ann') }))
    .body.data.items;
const asOperator = { 'x-operator-key': SECRETS.OPERATOR_KEY };
type Overview = {
  items: {
    name: string;
    circuit: { open: boolean; failures: number };
    last_failure: string | null;
    last_answer_at: string | null;
  }[];
};
const overviewOf = async (provider: HostedName) =>
  (await call<Overview>(hosts.service, 'GET /admin/providers', { headers: asOperator })).body.data.items.find(
    ({ name }) => name === provider,
  );

type Trouble = readonly [
  what: string,
  fault: Omit<Extract<Fault, { on: 'api' }>, 'on' | 'route'>,
  reason: string,
  retryAfter?: string,
];
const TROUBLES: readonly Trouble[] = [
  ['answers 500', { do: 'status', status: 500 }, 'provider_error'],
  ['answers 503 with Retry-After', { do: 'status', status: 503, retryAfter: 42 }, 'provider_error', '42'],
  [
    'answers 429 with Retry-After',
    { do: 'status', status: 429, retryAfter: 7 },
    'provider_rate_limited',
    '7',
  ],
  ['refuses the credentials', { do: 'status', status: 401 }, 'provider_credentials', '300'],
  ['cuts the connection', { do: 'cut' }, 'provider_unreachable'],
  ['does not answer', { do: 'slow', ms: 30_000 }, 'provider_timeout'],
  ['never ends its answer', { do: 'slow_body', ms: 30_000 }, 'provider_timeout'],
];

describe.each(HOSTED)('%s', (provider) => {
  test.for(TROUBLES)(
    'that %s: responds 503 with Retry-After, and the timeline has the reason',
    async ([, fault, reason, retryAfter = '2']) => {
      hosts.sims[provider].setFault({ on: 'api', route: CREATE[provider], ...fault } as Fault);
      const answer = await askUpload(hosts.service, provider);
      expect(expectRefusal(answer as Answer<never>, 503)).toMatchObject({
        error_code: 'UNAVAILABLE',
        details: { reason },
      });
      expect(answer.headers.get('retry-after')).toBe(retryAfter);
      const [asset] = await list();
      const id = asset?.id ?? '';
      expect((await timelineOf(hosts.service, id)).at(-1)).toMatchObject({
        type: 'asset.checked',
        details: { code: reason },
      });
      hosts.sims.reset();
      await hosts.reconcileIn(16);
      expect(await readAsset(hosts.service, 'ann', id)).toMatchObject({
        stream_status: 'failed',
        failure: { code: 'provider_unavailable' },
      });
    },
  );

  test('is not called while its circuit breaker is open', async () => {
    hosts.sims[provider].setFault({ on: 'api', do: 'status', status: 500, route: CREATE[provider] });
    for (let time = 0; time < 7; time++) expect((await askUpload(hosts.service, provider)).status).toBe(503);
    expect(hosts.sims[provider].requests().filter(({ route }) => route === CREATE[provider])).toHaveLength(5);
    expect(await overviewOf(provider)).toMatchObject({
      circuit: { open: true, failures: 5 },
      last_failure: 'provider_error',
    });
    hosts.sims.reset();
    await hosts.reconcileIn(1);
    expect((await askUpload(hosts.service, provider)).status).toBe(200);
    expect(await overviewOf(provider)).toMatchObject({
      circuit: { open: false, failures: 0 },
      last_failure: null,
      last_answer_at: expect.any(String),
    });
  });

  test('deletes the video of a lost response after an hour, even if the other provider fails', async () => {
    const kept = (await askUpload(hosts.service, provider)).body.data.asset;
    hosts.sims[provider].setFault({ on: 'api', do: 'lose_answer', route: CREATE[provider], times: 1 });
    expect((await askUpload(hosts.service, provider)).status).toBe(503);
    expect(hosts.sims[provider].videos()).toHaveLength(2);
    await hosts.reconcileIn(90);
    for (const other of HOSTED.filter((name) => name !== provider))
      hosts.sims[other].setFault({ on: 'api', do: 'status', status: 500 });
    const { jobs, db } = hosts.service.adapters;
    await db.transaction((tx) => jobs.send(tx, 'remove-orphaned-videos', {}));
    await eventually(
      async () => hosts.sims[provider].videos().length,
      (count) => count === 1,
    );
    expect(JSON.stringify(hosts.sims[provider].videos())).toContain(String(kept['provider_video_id']));
  });

  test('that says nothing about an open upload is asked again, as the timeline says', async () => {
    const { asset_id: id } = (await askUpload(hosts.service, provider)).body.data;
    hosts.sims[provider].setFault({ on: 'api', do: 'status', status: 503, route: 'get' });
    await hosts.reconcileIn(16);
    expect((await timelineOf(hosts.service, id)).at(-1)).toMatchObject({
      details: { reason: 'not_answered', code: 'provider_error' },
      sentence: expect.stringMatching(
        /^The provider's API did not report the state of the video\. Provider code: .* Next check at 20/,
      ),
    });
  });

  test('is asked to remove a video until it succeeds', async () => {
    const { asset_id: id } = (await askUpload(hosts.service, provider)).body.data;
    hosts.sims[provider].setFault({ on: 'api', do: 'status', status: 500, route: 'delete', times: 2 });
    expect((await call(hosts.service, `DELETE /media/${id}`, { headers: asUser('ann') })).status).toBe(200);
    await eventually(
      async () => hosts.sims[provider].videos().length,
      (count) => count === 0,
    );
    // The simulator records a request when its response has left.
    await eventually(
      async () => hosts.sims[provider].requests().filter(({ route }) => route === 'delete').length,
      (count) => count >= 3,
    );
  });

  test('gets one video if the same request is repeated after it recovers', async () => {
    const again = () =>
      call<Started>(hosts.service, 'POST /media/upload-url?expand=asset', {
        headers: { ...asUser('ann'), 'idempotency-key': `again-${provider}` },
        json: { ...VIDEO, size_bytes: 5000, provider },
      });
    hosts.sims[provider].setFault({
      on: 'api',
      do: 'status',
      status: 500,
      route: CREATE[provider],
      times: 1,
    });
    expect((await again()).status).toBe(503);
    const [unlinked] = await list();
    const { status, body } = await again();
    expect([status, body.data.asset_id]).toEqual([200, unlinked?.id]);
    expect(hosts.sims[provider].videos()).toHaveLength(1);
  });
});
