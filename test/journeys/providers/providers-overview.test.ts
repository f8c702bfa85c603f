// Operators see the capabilities, missing settings and last contact of each provider (contract B9).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSuccess } from '../../support/http/envelope.ts';
import { askUpload, type Hosts, startHosts } from '../../support/providers/hosted.ts';
import { asOperator, call, startTestService, type TestService } from '../../support/service.ts';
import { rows } from '../../support/service/traces.ts';
import { READY, tell } from '../../support/providers/webhooks.ts';

const START = Date.now();
let hosts: Hosts;
let bare: TestService;
beforeAll(async () => {
  hosts = await startHosts();
  bare = await startTestService({
    MEDIARY_ROLE: 'api',
    CDNHOST_STREAM_READ_ONLY_API_KEY: undefined,
    EDGEHOST_STREAM_WEBHOOK_SECRET: undefined,
    ONPREM_WEBHOOK_SECRET: undefined,
  });
});
afterAll(() => Promise.all([hosts?.stop(), bare?.stop()]));

type Overview = Record<string, unknown> & {
  name: string;
  missing_settings: string[];
  last_webhook_at: string | null;
};
const overviewOf = async (service: TestService) =>
  (
    expectSuccess(await call(service, 'GET /admin/providers', { headers: asOperator })) as {
      items: Overview[];
    }
  ).items;

const UNHEARD = {
  circuit: { open: false, failures: 0, open_until: null },
  last_answer_at: null,
  last_failure: null,
  processes: [],
  last_webhook_at: null,
  last_webhook_reason: null,
};

test('without settings the encoder works, and the other providers list their missing settings', async () => {
  const all = await overviewOf(bare);
  const nothing = { webhooks: false, uploads: false, inspection: false, signed_playback: false };
  expect(all.map(({ missing_settings: _, ...overview }) => overview)).toEqual([
    {
      name: 'cdnhost',
      kind: 'hosted',
      configured: false,
      capabilities: { ...nothing, dash: false },
      ...UNHEARD,
    },
    {
      name: 'edgehost',
      kind: 'hosted',
      configured: false,
      capabilities: { ...nothing, dash: true },
      ...UNHEARD,
    },
    {
      name: 'onprem',
      kind: 'encoder',
      configured: true,
      capabilities: { webhooks: true, uploads: true, inspection: false, signed_playback: true, dash: true },
      ...UNHEARD,
    },
  ]);
  const [cdnhost, edgehost, onprem] = all.map((provider) => provider.missing_settings);
  expect(cdnhost).toEqual(
    expect.arrayContaining([
      'CDNHOST_STREAM_READ_ONLY_API_KEY',
      'CDNHOST_STREAM_LIBRARY_ID',
      'CDNHOST_STREAM_API_KEY',
      'CDNHOST_STREAM_HOSTNAME',
    ]),
  );
  expect(edgehost).toEqual(expect.arrayContaining(['EDGEHOST_STREAM_WEBHOOK_SECRET', 'EDGEHOST_ACCOUNT_ID']));
  expect(onprem).toEqual([]);
});

test('configured providers accept videos; their last response and webhook are shown', async () => {
  const before = await overviewOf(hosts.service);
  expect(
    before.map(({ name, configured, missing_settings: missing }) => [name, configured, missing]),
  ).toEqual([
    ['cdnhost', true, ['CDNHOST_TOKEN_AUTH_KEY']],
    ['edgehost', true, []],
    ['onprem', true, []],
  ]);
  expect(before).toMatchObject([
    { ...UNHEARD, capabilities: { uploads: true, inspection: true, webhooks: true, signed_playback: false } },
    { ...UNHEARD, capabilities: { signed_playback: true } },
    UNHEARD,
  ]);
  expect((await askUpload(hosts.service, 'cdnhost')).status).toBe(200);
  await tell(hosts.service, 'onprem', READY.onprem(randomUUID()));
  await tell(hosts.service, 'onprem', []);
  const after = await overviewOf(hosts.service);
  const isNow = (moment: unknown) =>
    Date.parse(String(moment)) >= START && Date.parse(String(moment)) <= Date.now();
  expect(after).toMatchObject([
    { last_failure: null, last_webhook_at: null },
    UNHEARD,
    { last_answer_at: null, last_webhook_reason: 'not_actionable' },
  ]);
  expect([isNow(after[0]?.['last_answer_at']), isNow(after[2]?.last_webhook_at)]).toEqual([true, true]);
  for (const value of Object.values(hosts.sims.environment))
    if (value && value.length > 12) expect(JSON.stringify(after)).not.toContain(value);
});

test('the circuit of any live process is shown, whichever process responds', async () => {
  const circuit = {
    failures: 6,
    openUntil: Date.now() + 60_000,
    lastAnswerAt: 1000,
    lastFailure: 'provider_error',
  };
  await rows(
    bare.dataDir,
    `insert into workers (id, host, roles, version, providers, circuits, seen_at)
     select gen_random_uuid(), host, '{worker}', '1', '{cdnhost}', $1::jsonb, now() - age
       from (values ('machine:1', interval '1 s'), ('lost:1', interval '1 minute')) as made (host, age)`,
    [JSON.stringify({ cdnhost: circuit })],
  );
  const [cdnhost, edgehost] = await overviewOf(bare);
  const seen = {
    circuit: { open: true, failures: 6, open_until: new Date(circuit.openUntil).toISOString() },
    last_answer_at: new Date(1000).toISOString(),
    last_failure: 'provider_error',
  };
  expect(cdnhost).toMatchObject({ ...seen, processes: [{ host: 'machine:1', ...seen }] });
  expect(edgehost).toMatchObject(UNHEARD);
});
