// The whole API: every operation, in the order of the documentation.
import type { Operation } from './operation.ts';
import {
  echoRequest,
  echoUpload,
  getDiagnostics,
  streamDiagnostics,
  streamDownload,
} from './operations/diagnostics.ts';
import { streamAssetEvents, streamEvents } from './operations/events.ts';
import { getImage, getPrivateImage } from './operations/images.ts';
import { importMedia } from './operations/imports.ts';
import {
  completeUpload,
  createUpload,
  deleteAsset,
  getAsset,
  getTimeline,
  listAssets,
  restoreAsset,
  retryAsset,
  updateAsset,
} from './operations/media.ts';
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  listUploadParts,
  signUploadPart,
  signUploadParts,
} from './operations/multipart.ts';
import {
  findOrphans,
  getDelivery,
  listAllAssets,
  listDeliveries,
  listProviders,
  replayDeliveries,
} from './operations/operators.ts';
import {
  downloadOriginal,
  getDownloadUrl,
  getPlayback,
  getPrivateSegment,
  getSegment,
  privateEntryOperations,
  publicEntryOperations,
  putUpload,
} from './operations/playback.ts';
import {
  createResumableUpload,
  describeResumableUploads,
  findUploadOffset,
  patchResumableUpload,
  terminateResumableUpload,
} from './operations/resumable.ts';
import { abortS3Upload, listS3Parts, postS3Request } from './operations/s3-requests.ts';
import { getHealth, getReadiness } from './operations/service.ts';
import {
  cancelEncode,
  getOwnerLimits,
  getUsage,
  listEncodes,
  removeOwnerLimits,
  setOwnerLimits,
} from './operations/usage.ts';

/** Without the webhook endpoints, which depend on the providers that the service registers. */
export const OPERATIONS: readonly Operation[] = [
  createUpload,
  importMedia,
  putUpload,
  createResumableUpload,
  describeResumableUploads,
  findUploadOffset,
  patchResumableUpload,
  terminateResumableUpload,
  createMultipartUpload,
  signUploadPart,
  signUploadParts,
  listUploadParts,
  completeMultipartUpload,
  abortMultipartUpload,
  postS3Request,
  listS3Parts,
  abortS3Upload,
  completeUpload,
  retryAsset,
  listAssets,
  getAsset,
  updateAsset,
  deleteAsset,
  restoreAsset,
  getTimeline,
  streamAssetEvents,
  streamEvents,
  getUsage,
  getPlayback,
  getDownloadUrl,
  downloadOriginal,
  ...publicEntryOperations,
  ...privateEntryOperations,
  getSegment,
  getPrivateSegment,
  getImage,
  getPrivateImage,
  listAllAssets,
  listDeliveries,
  getDelivery,
  replayDeliveries,
  listProviders,
  findOrphans,
  getOwnerLimits,
  setOwnerLimits,
  removeOwnerLimits,
  listEncodes,
  cancelEncode,
  getDiagnostics,
  echoRequest,
  echoUpload,
  streamDiagnostics,
  streamDownload,
  getHealth,
  getReadiness,
] as readonly Operation[];
