// Samples of the last day, for operators.
import { type Static, Type } from 'typebox';
import { NoNextCursor, nullable, Timestamp } from '../common.ts';

/** `GET /api/v1/admin/samples`: name → meaning. */
export const SAMPLE_NAMES = {
  processes: 'Processes that wrote a sample.',
  requests_per_s: 'Requests, without health checks and scrapes.',
  errors_4xx_per_s: 'Responses with a status of 4xx.',
  errors_5xx_per_s: 'Responses with a status of 5xx.',
  request_p50_s: 'Time of half of the requests, without event streams.',
  request_p95_s: 'Time of 95 % of the requests, without event streams.',
  jobs_per_s: 'Runs of jobs that succeeded.',
  job_failures_per_s: 'Runs of jobs that failed.',
  encodes_running: 'Encodes and chunks that run.',
  encode_speed_p50: 'Seconds of film per second of encoding, of half of the encodes that ended.',
  time_to_playable_p50_s: 'Time from the end of an upload until half of the assets were playable.',
  time_to_playable_p95_s: 'Time from the end of an upload until 95 % of the assets were playable.',
  event_loop_delay_s: 'Delay of the event loop, its 99th percentile; of the slowest process.',
  scratch_free_bytes: 'Free space for temporary files; of the process with the least.',
  store_free_bytes: 'Free space of the object store, where it is a folder.',
  queue_waiting: 'Jobs that can start, of all queues.',
  queue_delayed: 'Jobs that wait for a time or a retry.',
  queue_active: 'Jobs that run.',
  queue_failed: 'Jobs that failed for good, while they are kept.',
  queue_oldest_s: 'How long the oldest waiting job could have started.',
  bytes_stored: 'Bytes of all owners, by their latest count.',
  assets_stored: 'Assets of all owners, by their latest count.',
} as const;
export type SampleName = keyof typeof SAMPLE_NAMES;

const NAMES = Object.keys(SAMPLE_NAMES) as SampleName[];

export const ListSamplesQuery = Type.Object({
  names: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: `Names, separated by commas. Default: all. ${NAMES.map(
        (name) => `\`${name}\`: ${SAMPLE_NAMES[name]}`,
      ).join(' ')}`,
    }),
  ),
  created_after: Type.Optional(Type.String({ description: 'ISO 8601. Default: an hour ago.' })),
  step_s: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 3600,
      multipleOf: 60,
      default: 60,
      description: 'Seconds that each entry covers. At most 1500 entries are returned.',
    }),
  ),
  host: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      description: '`host` of one process of `GET /api/v1/admin/workers`. Default: all processes together.',
    }),
  ),
});

const Sample = Type.Object({
  at: Timestamp,
  values: Type.Record(Type.String(), nullable(Type.Number()), {
    description: 'Name → value; null where nothing was measured.',
  }),
});

export const SampleList = Type.Object(
  { step_s: Type.Integer(), items: Type.Array(Sample), next_cursor: NoNextCursor },
  { $id: 'SampleList' },
);
export type SampleList = Static<typeof SampleList>;
