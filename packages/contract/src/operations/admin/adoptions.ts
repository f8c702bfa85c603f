// Adopts a file of the operator's storage as the original of a new asset.
import { jsonOperation } from '../../operation.ts';
import { Adoption, AdoptionRequest, EXAMPLE_ADOPTION } from '../../schemas/admin/adoptions.ts';

export const adoptObject = jsonOperation({
  id: 'adoptObject',
  method: 'POST',
  path: '/api/v1/admin/adoptions',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Adopt a file in place',
  description:
    'Creates an asset from a file in a bucket at the endpoint of the store, or in a folder of its disk. ' +
    'The store copies the file by itself, so that no byte leaves it. Then the upload is completed with the ' +
    'checks of every upload. `filename` and `mime_type` default to those of the source. The request can be ' +
    'repeated: it returns the asset that has the `external_id`. After `adoption_failed`, `retry` adopts ' +
    'again until the upload expires.',
  body: AdoptionRequest,
  isBodyRequired: true,
  message: 'Adoption',
  data: Adoption,
  example: EXAMPLE_ADOPTION,
  errors: [
    {
      code: 'BAD_REQUEST',
      reason: 'source_refused',
      when: '`source` is outside of `ADOPT_SOURCES`, or belongs to the service itself.',
    },
    {
      code: 'BAD_REQUEST',
      reason: 'source_unreadable',
      when: '`source` does not exist, or the service may not read it.',
    },
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'A quota of the owner is exceeded.' },
    { code: 'CONFLICT', reason: 'owner_is_being_erased', when: 'An operator erases this owner.' },
    { code: 'PAYLOAD_TOO_LARGE', when: 'The file is larger than `MAX_UPLOAD_BYTES`.' },
    { code: 'UNAVAILABLE', reason: 'disk_full', when: 'Less than `MIN_FREE_BYTES` is free.' },
  ],
});
