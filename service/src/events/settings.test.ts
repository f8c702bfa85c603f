// Tests the settings of outbound webhooks.
import { expect, test } from 'vitest';
import { createSettings } from '../platform/settings/read-settings.ts';
import { DEFAULT_RETRY_SECONDS, WEBHOOK_SETTINGS } from './settings.ts';

function read(retries?: string) {
  const settings = createSettings({ WEBHOOK_ENDPOINT_RETRIES_S: retries });
  const { delaysMs } = settings.read(WEBHOOK_SETTINGS).webhookEndpoints;
  return { delaysMs, problems: settings.problems };
}

test('the schedule of retries has a default', () => {
  expect(read()).toEqual({ delaysMs: DEFAULT_RETRY_SECONDS.map((seconds) => seconds * 1000), problems: [] });
  expect(read('1, 60')).toEqual({ delaysMs: [1000, 60_000], problems: [] });
});

test.each(['0', '1.5', 'soon', '-5', '700000', Array(21).fill('1').join(',')])(
  'the schedule %s is a problem',
  (retries) => {
    expect(read(retries).problems).toEqual([expect.stringContaining('WEBHOOK_ENDPOINT_RETRIES_S must be')]);
  },
);
