// A client for pages whose uploads are opened and completed by the back end of the application.
import { MediaryError } from '../errors.ts';
import { createClient, type Media } from '../mediary.ts';
import type { ReceivedResponse } from '../response.ts';
import { createTransport, type MediaryOptions, type Relay } from '../transport.ts';

export type EndpointOptions = Omit<MediaryOptions, 'baseUrl' | 'token' | 'serviceKey' | 'ownerUserId'> & {
  /** URL of the back end, such as `/uploads`; a query is kept. */
  endpoint: string;
};

export type EndpointClient = {
  media: Pick<
    Media,
    'upload' | 'startUpload' | 'createUploadQueue' | 'inspect' | 'waitUntilReady' | 'get' | 'playback'
  >;
};

/**
 * Creates a client that asks a back end instead of the API. The back end answers with what the API returned,
 * with or without the envelope: POST `endpoint` (`media.createUpload`), GET `endpoint/{id}`,
 * POST `endpoint/{id}/complete`, GET `endpoint/{id}/playback`; for uploads with `replaces` also
 * POST `endpoint/{id}/replace`.
 *
 * @example const { media } = createEndpointClient({ endpoint: '/uploads' });
 */
export function createEndpointClient({ endpoint, ...options }: EndpointOptions): EndpointClient {
  const relay = { toUrl: createPathMap(endpoint), toApiResponse: withEnvelope };
  return createClient(createTransport({ ...options, baseUrl: endpoint }, relay));
}

const ASSET_PATH = /^\/media\/([^/]+)(|\/complete|\/playback|\/replace)$/;

function createPathMap(endpoint: string): Relay['toUrl'] {
  const [path = ''] = endpoint.split('?', 1);
  const base = path.replace(/\/+$/, '');
  const search = endpoint.slice(path.length);
  return (apiPath) => {
    if (apiPath === '/media/upload-url') return endpoint;
    const [, id, action] = ASSET_PATH.exec(apiPath) ?? [];
    if (id !== undefined) return `${base}/${id}${action}${search}`;
    throw new MediaryError(`The back end of an upload does not offer ${apiPath}.`, {
      errorCode: 'NOT_IMPLEMENTED',
    });
  };
}

/** A back end that uses the SDK returns `data` alone. */
function withEnvelope(response: ReceivedResponse): ReceivedResponse {
  if (response.status < 200 || response.status > 299) return response;
  try {
    const data: unknown = JSON.parse(response.text);
    if (typeof data !== 'object' || data === null || 'success' in data) return response;
    return { ...response, text: JSON.stringify({ success: true, data }) };
  } catch {
    return response;
  }
}
