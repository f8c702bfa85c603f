// Health of the service, for load balancers and supervisors.
import { Type } from 'typebox';
import { READINESS_PURPOSES } from '../enums.ts';
import { jsonOperation } from '../operation.ts';
import { Timestamp } from '../schemas/common.ts';

const Ok = Type.Literal('ok');
const OkOrUnchecked = Type.Union([Ok, Type.Null()], { description: 'null: not checked for this purpose.' });

export const getHealth = jsonOperation({
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  tag: 'Service',
  auth: 'none',
  rateClass: 'none',
  summary: 'Check liveness',
  description: 'Reports that the process responds.',
  message: 'Alive',
  data: Type.Object({ status: Ok }, { $id: 'Health' }),
  example: { status: 'ok' },
});

const Worker = Type.Object(
  {
    id: Type.String({ description: 'Also in the log of the process. A restart creates a new one.' }),
    roles: Type.Array(Type.String(), { description: '`api`: handles requests. `worker`: runs jobs.' }),
    version: Type.String(),
    providers: Type.Array(Type.String(), {
      description: 'Providers whose API the process has settings for, and encoders.',
    }),
    started_at: Timestamp,
    seen_at: Timestamp,
    video_encoder: Type.Union([Type.String(), Type.Null()], {
      description:
        '`x264`, or the hardware encoder of `VIDEO_ENCODER` whose trial at the start succeeded: ' +
        '`nvenc` or `vaapi`.',
    }),
    clock_skew_ms: Type.Integer({
      description:
        "How far the clock of the process is ahead of the database's. Beyond 60 s either way it takes no " +
        'job that removes data.',
    }),
  },
  { $id: 'Worker' },
);

export const getReadiness = jsonOperation({
  id: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  tag: 'Service',
  auth: 'none',
  rateClass: 'none',
  summary: 'Check readiness',
  description:
    'By default, and with `for=serving`, it is 503 only while the database does not respond or the ' +
    'process stops. Reads and deletions work without a store and with a full disk. `for=uploads` also ' +
    'checks the object store and the free space, `for=jobs` the job queue too. Results are kept for a ' +
    'second. A process without workers stays ready; after a minute `warnings` contains `no_workers`. ' +
    'While encodes wait for disk space of a worker, it contains `scratch_disk_full`. With a valid ' +
    '`X-Operator-Key`, `workers` lists the live workers, and `sandbox` the protections of media decoders ' +
    'and whether each is active on this machine.',
  query: Type.Object({
    for: Type.Optional(Type.Enum([...READINESS_PURPOSES])),
  }),
  message: 'Ready',
  data: Type.Object(
    {
      database: Ok,
      store: OkOrUnchecked,
      queue: OkOrUnchecked,
      worker_count: Type.Integer({
        minimum: 0,
        description: 'Processes that run jobs and were seen within the last 35 seconds.',
      }),
      warnings: Type.Optional(
        Type.Array(Type.Enum(['no_workers', 'scratch_disk_full', 'worker_clock_skew']), {
          description:
            '`no_workers`: no worker was alive for a minute, so nothing is encoded. ' +
            '`scratch_disk_full`: encodes wait, because the disk of a worker has too little space. ' +
            "`worker_clock_skew`: the clock of a worker differs from the database's by more than 60 s, so " +
            'it takes no job that removes data.',
        }),
      ),
      workers: Type.Optional(
        Type.Array(Worker, { description: 'For operators: the live workers, oldest process first.' }),
      ),
      sandbox: Type.Optional(
        Type.Record(Type.String(), Type.Boolean(), {
          description: 'For operators: protection → true when it is active.',
        }),
      ),
    },
    { $id: 'Readiness' },
  ),
  example: { database: 'ok', store: null, queue: null, worker_count: 2 },
  errors: [
    {
      code: 'UNAVAILABLE',
      reason: 'disk_full',
      when: '`for=uploads` and `for=jobs`: less than `MIN_FREE_BYTES` is free.',
    },
  ],
});
