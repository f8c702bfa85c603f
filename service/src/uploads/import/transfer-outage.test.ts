// Tests that an outage of our own store ends no transfer to a hosted provider, however long it lasts.
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import { unavailable } from '../../platform/http/errors.ts';
import { contextOf } from '../../platform/values/context.fixture.ts';
import type { HostedApi } from '../../providers/provider.ts';
import { CLAIMED_IMPORT, createIntake, createUploadsWorld, MP4 } from '../context.fixture.ts';
import type { UploadsContext } from '../context.ts';
import { transferImportJob } from './transfer-import.job.ts';

const ID = createVideo().id;
const ASSET = createVideo({
  provider: 'cdnhost',
  uploaded_at: NOW,
  original_upload: ID,
  size_bytes: MP4.length,
});
const TARGET = {
  protocol: 'form',
  method: 'POST',
  url: 'https://up.example/',
  headers: {},
  fields: {},
  expires_at: '2026-01-01T00:00:00.000Z',
  max_bytes: 1000,
} as const;

test('runs that meet an outage of the store do not count', async () => {
  let [runs, isDown] = [0, true];
  const { ctx: world, asset } = createUploadsWorld(ASSET, {
    'claim import': () => {
      runs += 1;
      return { ...CLAIMED_IMPORT, runs };
    },
    'current import': { id: ID },
    'record held run': () => {
      runs -= 1;
      return { asset_id: ID };
    },
  });
  async function* read() {
    if (isDown) throw unavailable('the store is down');
    yield MP4;
  }
  const sendBody: UploadsContext['intake']['outbound']['sendBody'] = async ({ bytes }) => {
    await buffer(bytes);
    return { status: 200, headers: new Headers() };
  };
  const ctx: UploadsContext = {
    ...world,
    store: { ...world.store, stream: () => Readable.from(read()) },
    providers: {
      ...world.providers,
      findMaxDuration: () => undefined,
      openFileUpload: async () => ({ videoId: 'v1', target: TARGET }),
      call: (_name, request) => request(contextOf<HostedApi>({})),
    },
    intake: createIntake({ outbound: contextOf<UploadsContext['intake']['outbound']>({ sendBody }) }),
  };
  const run = () =>
    transferImportJob(ctx)({
      payload: { provider: 'cdnhost', assetId: ID, attempt: 1 },
      signal: new AbortController().signal,
      slot: { isWanted: async () => false, giveBack: async () => undefined },
    });
  for (let outage = 0; outage < 25; outage += 1) await expect(run()).rejects.toThrow('the store is down');
  isDown = false;
  await run();
  expect(asset()).toMatchObject({ stream_status: 'processing', failure: null });
});
