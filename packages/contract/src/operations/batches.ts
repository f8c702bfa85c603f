// Changing many assets in one request.
import { jsonOperation } from '../operation.ts';
import { BatchRequest, BatchResult, EXAMPLE_BATCH } from '../schemas/batches.ts';

export const changeAssets = jsonOperation({
  id: 'changeAssets',
  method: 'POST',
  path: '/api/v1/media/batch',
  tag: 'Assets',
  auth: 'caller',
  summary: 'Change many assets',
  description:
    'Each asset is changed on its own: one that cannot be changed does not stop the others. The response ' +
    'is 200 with the error of each. Send the request again to repeat it: what is as wanted stays ' +
    'unchanged. Each id counts as a request of the owner (`RATE_LIMIT_PER_OWNER`). A response with a ' +
    '`RATE_LIMITED` item is not stored for its `Idempotency-Key`. An outage ends the request with 503.',
  requestHeaders: ['Idempotency-Key'],
  body: BatchRequest,
  isBodyRequired: true,
  message: 'Assets changed',
  data: BatchResult,
  example: EXAMPLE_BATCH,
  errors: [
    { code: 'BAD_REQUEST', reason: 'unknown_member', when: 'The body has an unknown member.' },
    {
      code: 'CONFLICT',
      reason: 'request_in_progress',
      when: 'A request with this `Idempotency-Key` is running.',
    },
    {
      code: 'CONFLICT',
      reason: 'idempotency_key_reused',
      when: 'The `Idempotency-Key` was used with another request.',
    },
  ],
});
