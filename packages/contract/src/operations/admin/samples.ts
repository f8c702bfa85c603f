// Samples of the last day, for operators.
import { jsonOperation } from '../../operation.ts';
import { ListSamplesQuery, SampleList } from '../../schemas/admin/samples.ts';

export const listSamples = jsonOperation({
  id: 'listSamples',
  method: 'GET',
  path: '/api/v1/admin/samples',
  tag: 'Operators',
  auth: 'operator',
  summary: 'List samples',
  description:
    'A time series, oldest first: once a minute each process records what it counted and measured, and one ' +
    'of them the state of the queues. Samples are kept for `SAMPLE_RETENTION_H`. Percentiles are those of ' +
    'all processes together, with the precision of the buckets of `/metrics`.',
  query: ListSamplesQuery,
  message: 'Samples',
  data: SampleList,
  example: {
    step_s: 60,
    items: [
      {
        at: '2026-11-22T10:15:00.000Z',
        values: { requests_per_s: 12.4, request_p95_s: 0.05, queue_waiting: 3, encode_speed_p50: null },
      },
    ],
    next_cursor: null,
  },
});
