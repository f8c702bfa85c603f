// @mediary/client/server: what needs a secret, for back ends only.
export {
  type AccessTokenOptions,
  type ImageEdit,
  signAccessToken,
  signImageUrl,
} from './signing.ts';
export { createUploadHandler, type UploadHandlerOptions } from './upload-handler.ts';
