// @mediary/client/server: what needs a secret, for back ends only.
export {
  type AccessTokenOptions,
  type ImageEdit,
  signAccessToken,
  signImageUrl,
} from './server/signing.ts';
export { createUploadHandler, type UploadHandlerOptions } from './server/upload-handler.ts';
