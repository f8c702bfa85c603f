// When a video that is being processed is expected to be ready (B11).
import { type Static, Type } from 'typebox';
import { nullable, Timestamp } from '../common.ts';

/** What is known of an asset that the service does not encode now. */
export const NO_EXPECTED_TIMES = {
  expected_playable_at: null,
  expected_ready_at: null,
  expected_ready_range: null,
  queue_position: null,
} as const;

const moment = (description: string) => nullable(Type.String({ format: 'date-time', description }));

const ExpectedRange = Type.Object(
  { earliest_at: Timestamp, latest_at: Timestamp },
  {
    $id: 'ExpectedRange',
    description: 'About eight of ten videos become ready between these times.',
  },
);

/** Members of the asset. */
export const expectedTimes = {
  expected_playable_at: moment(
    'When the first rendition will probably play. Null if it plays already, or if nothing is known.',
  ),
  expected_ready_at: moment(
    'When the last rendition will probably be stored, by the speed that this installation has shown and by ' +
      'what waits before it. Only while `stream_status` is `processing`, and null if nothing is known. It ' +
      'moves with each reading.',
  ),
  expected_ready_range: nullable(ExpectedRange),
  queue_position: nullable(
    Type.Integer({
      minimum: 0,
      description:
        'Place among the encodes that wait for a slot of the same kind: 1 starts next, 0 runs. Null if no ' +
        'worker of the service has to encode the asset.',
    }),
  ),
};

const ExpectedTimes = Type.Object(expectedTimes);

export type ExpectedTimes = Static<typeof ExpectedTimes>;
