// What cancelling a job means for its asset, by the name of the job: pure.
import type { JobPayloads } from '../../jobs.ts';

/**
 * `encode`, `image`, `bytes`: the asset fails as cancelled. `optional`: the asset lacks a file that it can do
 * without. `scheduled`: the job runs again by its schedule. `required`: cancelling is refused.
 */
export type CancelRule =
  | { readonly effect: 'encode' | 'image' | 'bytes' | 'optional' | 'scheduled' }
  | { readonly effect: 'required'; readonly because: string };

const ENCODE = { effect: 'encode' } as const;
const BYTES = { effect: 'bytes' } as const;
const OPTIONAL = { effect: 'optional' } as const;
const SCHEDULED = { effect: 'scheduled' } as const;
const required = (because: string) => ({ effect: 'required', because }) as const;

const CANCEL_RULES: Readonly<Record<keyof JobPayloads, CancelRule>> = {
  'import-asset': BYTES,
  'adopt-asset': BYTES,
  'delete-source': OPTIONAL,
  'transfer-import': BYTES,
  'clip-asset': BYTES,
  'encode-asset': ENCODE,
  'encode-long': ENCODE,
  'encode-rest': ENCODE,
  'encode-long-rest': ENCODE,
  'encode-divided': ENCODE,
  'ask-encoder': ENCODE,
  'encode-chunk': required('its video would lack a part. Cancel the job "encode-divided" of the asset'),
  'cancel-encoder-job': required('the external encoder would go on with a cancelled encode'),
  'remove-run-files': required('the files of an ended encode would stay in the store'),
  'deliver-report': required('the asset would never learn that its encode ended'),
  'make-poster': OPTIONAL,
  'make-extras': OPTIONAL,
  'take-over': required('the asset would never get its new file. Delete the replacement'),
  'process-image': { effect: 'image' },
  'improve-variant': OPTIONAL,
  'purge-asset': required('the bytes of a deleted asset would stay in the store'),
  'purge-cdn': required('the CDN would go on serving the files of the asset'),
  'protect-video': required('the video provider would not know the visibility of the video'),
  'provider-task': required('the video provider and the asset would differ'),
  'erase-owner': required('the erasure of the owner would never be completed'),
  'erase-videos': required('the videos of an erased owner would stay at their provider'),
  'check-storage': required('the check would never end. POST /api/v1/admin/checks/{id}/cancel ends it'),
  reconcile: SCHEDULED,
  'remove-orphaned-videos': SCHEDULED,
  'expire-uploads': SCHEDULED,
  'empty-trash': SCHEDULED,
  'expire-assets': SCHEDULED,
  'remove-deferred': SCHEDULED,
  'delete-expired-keys': SCHEDULED,
  'delete-old-samples': SCHEDULED,
  'count-owners': SCHEDULED,
  'maintain-partitions': SCHEDULED,
};

export const findCancelRule = (name: string): CancelRule =>
  CANCEL_RULES[name as keyof JobPayloads] ?? required('this release does not know the job');
