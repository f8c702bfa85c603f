// The operation that each function of the SDK calls, for the examples of the reference pages.
import type { SdkCall } from '@mediary/contract/reference/typescript-text';
import type { Mediary } from '../mediary.ts';

type Call = (...values: never[]) => unknown;

/** `media.get`: each function of a client, so that a new one needs its line here. */
type CallName = {
  [Group in keyof Mediary]: Mediary[Group] extends Call ? Group : `${Group}.${keyof Mediary[Group] & string}`;
}[keyof Mediary];

/**
 * The id of the operation, and where the arguments come from: a path parameter, `body`, `query`, `file`, a
 * member as in `body.asset_ids`, the others as in `body without asset_ids`.
 */
type OperationCall = readonly [operationId: string, ...sources: string[]];

/** Helpers that send several requests, none, or any. */
const NO_OPERATION = undefined;

export const OPERATION_CALLS: Readonly<Record<CallName, OperationCall | undefined>> = {
  'media.createUpload': ['createUpload', 'body'],
  'media.complete': ['completeUpload', 'id'],
  'media.import': ['importMedia', 'body'],
  'media.clip': ['createClip', 'id', 'body'],
  'media.get': ['getAsset', 'id'],
  'media.list': ['listAssets', 'query'],
  'media.update': ['updateAsset', 'id', 'body'],
  'media.changeMany': ['changeAssets', 'body'],
  'media.delete': ['deleteAsset', 'id', 'query'],
  'media.restore': ['restoreAsset', 'id'],
  'media.setLegalHold': ['setLegalHold', 'id'],
  'media.releaseLegalHold': ['releaseLegalHold', 'id'],
  'media.retry': ['retryAsset', 'id'],
  'media.playback': ['getPlayback', 'id'],
  'media.revokePlayback': ['revokePlayback', 'id'],
  'media.downloadUrl': ['getDownloadUrl', 'id'],
  'media.timeline': ['getTimeline', 'id'],
  'media.events': ['streamAssetEvents', 'id'],
  'media.upload': NO_OPERATION,
  'media.startUpload': NO_OPERATION,
  'media.createUploadQueue': NO_OPERATION,
  'media.inspect': NO_OPERATION,
  'media.waitUntilReady': NO_OPERATION,
  'events.stream': ['streamEvents'],
  'events.createTicket': ['createEventTicket'],
  'captions.put': ['putCaptions', 'id', 'lang', 'file'],
  'captions.list': ['listCaptions', 'id'],
  'captions.get': ['getCaptions', 'id', 'lang'],
  'captions.delete': ['deleteCaptions', 'id', 'lang'],
  'versions.replace': ['replaceFile', 'id', 'body'],
  'versions.list': ['listVersions', 'id'],
  'versions.rollBack': ['rollBack', 'id'],
  'collections.create': ['createCollection', 'body'],
  'collections.list': ['listCollections'],
  'collections.get': ['getCollection', 'id'],
  'collections.update': ['updateCollection', 'id', 'body'],
  'collections.delete': ['deleteCollection', 'id'],
  'collections.items': ['listCollectionItems', 'id'],
  'collections.add': ['addCollectionItems', 'id', 'body.asset_ids', 'body without asset_ids'],
  'collections.move': ['moveCollectionItem', 'id', 'asset_id', 'body'],
  'collections.remove': ['removeCollectionItem', 'id', 'asset_id'],
  'collections.playlist': ['getPlaylist', 'id'],
  'webhookEndpoints.create': ['createWebhookEndpoint', 'body'],
  'webhookEndpoints.list': ['listWebhookEndpoints'],
  'webhookEndpoints.get': ['getWebhookEndpoint', 'id'],
  'webhookEndpoints.update': ['updateWebhookEndpoint', 'id', 'body'],
  'webhookEndpoints.delete': ['deleteWebhookEndpoint', 'id'],
  'webhookEndpoints.rotateSecret': ['rotateEndpointSecret', 'id'],
  'webhookEndpoints.test': ['testWebhookEndpoint', 'id'],
  'webhookEndpoints.deliveries': ['listEndpointDeliveries', 'id'],
  'webhookEndpoints.resend': ['resendEndpointDelivery', 'id', 'delivery_id'],
  'webhookEndpoints.resendEvents': ['resendEndpointEvents', 'id', 'body'],
  'uploadTokens.create': ['createUploadToken', 'body'],
  'images.getSigningKey': ['getImageSigningKey'],
  'usage.get': ['getUsage'],
  request: NO_OPERATION,
  requestBytes: NO_OPERATION,
  forOwner: NO_OPERATION,
};

export function findSdkCall(operationId: string): SdkCall | undefined {
  const [name, call] = Object.entries(OPERATION_CALLS).find(([, each]) => each?.[0] === operationId) ?? [];
  return name === undefined || !call ? undefined : { name, arguments: call.slice(1) };
}
