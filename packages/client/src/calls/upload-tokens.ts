// Upload tokens: what a page needs to upload files without the credentials of its user.
import type { CreateUploadTokenRequest, UploadToken } from '../api/upload-tokens.ts';
import { ownerOf } from '../media.ts';
import type { CallOptions, Transport } from '../transport.ts';

export type UploadTokenCalls = {
  /**
   * Creates a token that can only create, send and complete uploads within these bounds. It needs
   * `serviceKey` and an owner. The page uses it as `token` of its client. A lost response is not repeated.
   * Errors: 403 without `serviceKey`.
   *
   * @example
   * await mediary.forOwner('ann').uploadTokens.create({ kinds: ['image'], max_uploads: 5 });
   */
  create(
    request?: Omit<CreateUploadTokenRequest, 'owner_user_id'>,
    options?: Omit<CallOptions, 'idempotencyKey'>,
  ): Promise<UploadToken>;
};

export const createUploadTokenCalls = (transport: Transport): UploadTokenCalls => ({
  create: (request = {}, options) =>
    transport.request({
      method: 'POST',
      path: '/upload-tokens',
      body: { ...request, ...ownerOf(transport, options) },
      options,
      isRepeatable: false,
    }),
});
