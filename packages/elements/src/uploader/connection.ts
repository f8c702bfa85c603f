// The calls of an upload: through the back end of the page, or to the service with a token.
import {
  createEndpointClient,
  createMediary,
  type EndpointClient,
  type Media,
  type TokenSource,
  type UploadQueue,
} from '@mediary/client';

/** Back ends offer no retry of a failed asset. */
type UploadCalls = EndpointClient['media'] & Partial<Pick<Media, 'retry'>>;

export type UploadConnection = { readonly media: UploadCalls; readonly queue: UploadQueue };

type ConnectionSettings = {
  readonly endpoint: string | undefined;
  readonly baseUrl: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly token: TokenSource | undefined;
  readonly concurrency: number;
};

/** Undefined where the address or the token is missing. */
export function openConnection(settings: ConnectionSettings): UploadConnection | undefined {
  const media = createCalls(settings);
  return media && { media, queue: media.createUploadQueue({ concurrency: settings.concurrency }) };
}

function createCalls({ endpoint, baseUrl, headers, token }: ConnectionSettings): UploadCalls | undefined {
  if (endpoint !== undefined) return createEndpointClient({ endpoint, headers }).media;
  return baseUrl !== undefined && token !== undefined ? createMediary({ baseUrl, token }).media : undefined;
}
