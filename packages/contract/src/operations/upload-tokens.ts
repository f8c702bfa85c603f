// Upload tokens: a back end creates them for browsers.
import { jsonOperation } from '../operation.ts';
import { CreateUploadTokenRequest, EXAMPLE_UPLOAD_TOKEN, UploadToken } from '../schemas/upload-tokens.ts';

export const createUploadToken = jsonOperation({
  id: 'createUploadToken',
  method: 'POST',
  path: '/api/v1/upload-tokens',
  tag: 'Uploads',
  auth: 'service',
  summary: 'Create an upload token',
  description:
    'A bearer token for a browser, so that the access token of the user need not be in the page. It may ' +
    'create, send and complete uploads of one owner within the given bounds. It may read what it created ' +
    'until ten minutes after that is ready. Every other request with it is 403.',
  body: CreateUploadTokenRequest,
  isBodyRequired: true,
  message: 'Upload token',
  data: UploadToken,
  example: EXAMPLE_UPLOAD_TOKEN,
});
