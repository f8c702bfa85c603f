// Sample events fit the contract, whatever their asset is called.
import { EventMessage } from '@mediary/contract/schemas/events';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { createSampleEvent, SAMPLE_EVENTS } from './sample-event.ts';

const NOW = new Date('2030-01-31T12:00:00.000Z');
const ID = '019aab7c-0000-7c55-9f0e-00000000abcd';
const schema = Compile(EventMessage);

test.each(SAMPLE_EVENTS.map(({ event }) => event.type))('%s is of now, and of the given asset', (type) => {
  const options = { assetId: ID, externalId: 'order-1', owner: 'ann', now: NOW };
  const event = createSampleEvent(type, options);
  expect([...schema.Errors(event)]).toEqual([]);
  expect(event).toMatchObject({
    type,
    at: NOW.toISOString(),
    asset_id: ID,
    owner_user_id: 'ann',
    asset: { id: ID, external_id: 'order-1', owner_user_id: 'ann' },
  });
  expect(JSON.stringify(event)).not.toContain('2026-');
  if (event.asset?.playback) expect(event.asset.playback.hls).toContain(`/${ID}/`);
});

test('without options, event and asset have new ids of the version 7', () => {
  const options = { assetId: undefined, externalId: undefined, owner: undefined, now: NOW };
  const [first, second] = [1, 2].map(() => createSampleEvent('asset.ready', options));
  const ids = [first?.id, first?.asset_id, second?.id, second?.asset_id];
  expect(new Set(ids).size).toBe(4);
  for (const id of ids)
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(first?.asset_id.slice(0, 13).replace('-', '')).toBe(NOW.getTime().toString(16).padStart(12, '0'));
});
