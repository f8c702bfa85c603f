// Tests how samples of processes and minutes are joined, and what the series say.
import { expect, test } from 'vitest';
import { findQuantile, joinProcesses, type ProcessSample, toSeriesValues } from './sample-values.ts';

const SAMPLE: ProcessSample = {
  processes: 1,
  requests: 60,
  errors_4xx: 6,
  errors_5xx: 0,
  jobs: 30,
  job_failures: 3,
  encodes_running: 2,
  event_loop_delay_s: 0.01,
  scratch_free_bytes: 100,
  store_free_bytes: null,
  latency: { '0.01': 50, '0.5': 10 },
  speed: {},
  playable: { '10': 1, '+Inf': 1 },
};
const BUSY: ProcessSample = {
  ...SAMPLE,
  requests: 600,
  encodes_running: 0,
  event_loop_delay_s: 0.2,
  scratch_free_bytes: 50,
  store_free_bytes: 7,
  latency: { '0.5': 600 },
};

test('processes of a minute are added; the slowest and the fullest decide', () => {
  expect(toSeriesValues({ processes: [joinProcesses(SAMPLE, BUSY)], states: [] })).toMatchObject({
    processes: 2,
    requests_per_s: 11,
    errors_4xx_per_s: 0.2,
    encodes_running: 2,
    event_loop_delay_s: 0.2,
    scratch_free_bytes: 50,
    store_free_bytes: 7,
    request_p50_s: 0.5,
    queue_waiting: null,
  });
});

test('minutes of a step are averaged, and the latest state is shown', () => {
  const states = [{ queue_waiting: 5 }, { queue_waiting: 2, bytes_stored: 10 }];
  expect(toSeriesValues({ processes: [SAMPLE, BUSY], states })).toMatchObject({
    processes: 1,
    requests_per_s: 5.5,
    encodes_running: 2,
    queue_waiting: 2,
    bytes_stored: 10,
    queue_oldest_s: null,
  });
});

test('a step without samples has no values', () => {
  expect(new Set(Object.values(toSeriesValues({ processes: [], states: [] })))).toEqual(new Set([null]));
});

test('a quantile is the bound of its bucket, and unknown without values or beyond all bounds', () => {
  const buckets = { '10': 1, '0.5': 8, '2.5': 1 };
  expect([0.5, 0.8, 0.9, 1].map((quantile) => findQuantile(buckets, quantile))).toEqual([0.5, 0.5, 2.5, 10]);
  expect(findQuantile({}, 0.5)).toBeNull();
  expect(findQuantile({ '1': 0 }, 0.5)).toBeNull();
  expect(findQuantile(SAMPLE.playable, 0.95)).toBeNull();
});
