// The processes of an installation, for operators.
import { type Static, Type } from 'typebox';
import { AssetId, Cursor, NextCursor, nullable, Timestamp } from '../common.ts';

export const WorkerProcess = Type.Object(
  {
    id: Type.String({ description: 'Also in the log of the process. A restart creates a new one.' }),
    host: Type.String({ description: 'Host name and process id, as `worker` of an encode.' }),
    roles: Type.Array(Type.String(), { description: '`api`: handles requests. `worker`: runs jobs.' }),
    version: Type.String(),
    state: Type.Enum(['live', 'draining', 'lost', 'stopped'], {
      description:
        '`draining`: takes no further job. `lost`: no sign of life for 35 s. `stopped`: ended by itself. ' +
        'Ended processes are listed for 24 h.',
    }),
    started_at: Timestamp,
    last_seen_at: Timestamp,
    stopped_at: nullable(Timestamp),
    running_jobs: Type.Array(
      Type.Object({
        id: Type.String(),
        queue: Type.String(),
        asset_id: nullable(AssetId),
        started_at: Timestamp,
      }),
      {
        description: 'At the last sign of life, which is every 10 s, and when a run has lasted two seconds.',
      },
    ),
    providers: Type.Array(Type.String(), {
      description: 'Providers whose API the process has settings for, and encoders.',
    }),
    video_encoder: nullable(
      Type.String({ description: '`x264`, or the hardware encoder whose trial succeeded.' }),
    ),
    scratch_free_bytes: nullable(
      Type.Integer({ description: 'Free space of the disk with the temporary files of the process.' }),
    ),
    clock_skew_ms: Type.Integer({
      description:
        "How far the clock of the process is ahead of the database's. Beyond 60 s either way it takes no " +
        'job that removes data.',
    }),
    sandbox: Type.Record(Type.String(), Type.Boolean(), {
      description: 'Protection of media decoders → whether it is active.',
    }),
  },
  { $id: 'WorkerProcess' },
);
export type WorkerProcess = Static<typeof WorkerProcess>;

export const WorkerPage = Type.Object(
  { items: Type.Array(WorkerProcess), next_cursor: NextCursor },
  { $id: 'WorkerPage' },
);

export const ListWorkersQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 100 }),
  cursor: Type.Optional(Cursor),
});

export const DrainedWorker = Type.Object(
  { id: Type.String(), draining: Type.Literal(true) },
  { $id: 'DrainedWorker' },
);

export const EXAMPLE_WORKER: WorkerProcess = {
  id: '0d3f5a1e-2b4c-4d6e-8f90-a1b2c3d4e5f6',
  host: 'encoder-1:4711',
  roles: ['worker'],
  version: '1.0.0',
  state: 'live',
  started_at: '2026-11-22T08:00:00.000Z',
  last_seen_at: '2026-11-22T10:15:38.000Z',
  stopped_at: null,
  running_jobs: [
    {
      id: '6f4f0c0e-5a0b-4c8e-9b1d-3c2a1f0e9d8c',
      queue: 'encode-asset',
      asset_id: '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e',
      started_at: '2026-11-22T10:15:30.000Z',
    },
  ],
  providers: ['onprem'],
  video_encoder: 'x264',
  scratch_free_bytes: 96_636_764_160,
  clock_skew_ms: 3,
  sandbox: { no_network: true, own_processes: true },
};
