// Settings of the processes that decode untrusted files.
import { DEFAULT_FILE_LIMITS } from '@mediary/media-rules/file-limits';
import { choice, integer, optionalInteger } from '../platform/settings/setting.ts';

const MINUTE_MS = 60_000;

export const DECODER_SETTINGS = {
  title: 'Decoders',
  settings: {
    decoders: {
      processes: optionalInteger(
        'DECODER_PROCESSES',
        'Processes of one service process that probe videos, decode uploaded images and render ' +
          'variants; each ' +
          'of these three tasks has reserved processes, and the rest is shared. An image may use 1 GiB.',
        { byDefault: 'twice the cores, 6 to 16', min: 4, max: 64 },
      ),
      idleMs: integer('DECODER_IDLE_MS', 'Milliseconds after which an idle decoder process is stopped.', {
        fallback: MINUTE_MS,
        min: 1,
        max: 60 * MINUTE_MS,
      }),
      probe: {
        deadlineMs: integer('PROBE_DEADLINE_MS', 'Milliseconds in which a video must be probed.', {
          fallback: 2000,
          min: 100,
          max: MINUTE_MS,
        }),
        perOwner: integer(
          'PROBES_PER_OWNER',
          'Concurrent probes of one owner; at least one process is left to other owners.',
          { fallback: 2, min: 1, max: 64 },
        ),
        waitMs: integer('PROBE_WAIT_MS', 'Milliseconds that a probe waits for its turn, then 503 `busy`.', {
          fallback: 10_000,
          min: 100,
          max: MINUTE_MS,
        }),
      },
      image: {
        maxPixels: integer('MAX_IMAGE_PIXELS', 'Pixels of all frames of an image.', {
          fallback: DEFAULT_FILE_LIMITS.maxImagePixels,
          min: 1,
          max: 500_000_000,
        }),
        deadlineMs: integer(
          'IMAGE_DEADLINE_MS',
          'Milliseconds in which an image must be decoded, or a variant rendered.',
          { fallback: 20_000, min: 100, max: MINUTE_MS },
        ),
        perAsset: integer('VARIANTS_PER_ASSET', 'Variants of one asset that are rendered at the same time.', {
          fallback: 2,
          min: 1,
          max: 64,
        }),
        maxWaiting: integer('VARIANT_QUEUE_LENGTH', 'Variants of one asset that wait, then 503 `busy`.', {
          fallback: 14,
          min: 0,
          max: 10_000,
        }),
        waitMs: integer(
          'VARIANT_WAIT_MS',
          'Milliseconds that a variant waits for its turn, then 503 `busy`.',
          {
            fallback: 20_000,
            min: 100,
            max: MINUTE_MS,
          },
        ),
      },
      framesPerMinute: integer(
        'FRAMES_PER_MINUTE',
        'Frames at any time that are rendered of one video in a minute, by all processes together; ' +
          'beyond it ' +
          'the nearest stored frame is served.',
        { fallback: 60, min: 1, max: 10_000 },
      ),
    },
    sandbox: choice(
      'SANDBOX',
      '`required`: do not start if a part of the sandbox is missing that the user of the service can have ' +
        '(root: all parts; others: all but `other_user`).',
      { choices: ['available', 'required'], fallback: 'available' },
    ),
    sandboxUid: integer(
      'SANDBOX_UID',
      'User and group id of decoder processes when the service runs as root.',
      { fallback: 65_533, min: 1, max: 2 ** 31 },
    ),
  },
};
