// The whole API: every operation, in the order of the documentation.
import type { Operation } from './operation.ts';
import { adoptObject } from './operations/admin/adoptions.ts';
import { changeAssets } from './operations/batches.ts';
import { deleteCaptions, getCaptions, listCaptions, putCaptions } from './operations/captions.ts';
import { COLLECTION_OPERATIONS } from './operations/collections.ts';
import {
  echoRequest,
  echoUpload,
  getDiagnostics,
  streamDiagnostics,
  streamDownload,
} from './operations/admin/diagnostics.ts';
import { deleteAsset, restoreAsset } from './operations/deletions.ts';
import { downloadOriginal, getDownloadUrl } from './operations/playback/downloads.ts';
import { getEmbed, getOembed, getPrivateEmbed, playerScriptOperations } from './operations/playback/embed.ts';
import { encryptedOperations } from './operations/playback/encrypted-playback.ts';
import { createEventTicket, streamAssetEvents, streamEvents } from './operations/events.ts';
import { getImage, getImageSigningKey, getPrivateImage } from './operations/images.ts';
import { createClip } from './operations/clips.ts';
import { importMedia } from './operations/imports.ts';
import { cancelJob, getJob, listJobs, listQueues, runJobAgain } from './operations/admin/jobs.ts';
import {
  completeUpload,
  createUpload,
  getAsset,
  getTimeline,
  listAssets,
  retryAsset,
  updateAsset,
} from './operations/media.ts';
import {
  releaseLegalHold,
  releaseLegalHoldAsOperator,
  setLegalHold,
  setLegalHoldAsOperator,
} from './operations/admin/legal-holds.ts';
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  listUploadParts,
  signUploadPart,
  signUploadParts,
} from './operations/multipart.ts';
import {
  getDelivery,
  getMetrics,
  listAllAssets,
  listCdnPurges,
  listDeliveries,
  listProviders,
  replayDeliveries,
} from './operations/admin/operators.ts';
import {
  getPlayback,
  getPrivateSegment,
  getSegment,
  privateEntryOperations,
  publicEntryOperations,
  putUpload,
  revokePlayback,
} from './operations/playback/playback.ts';
import { countAssets, getOwner, listOwners } from './operations/admin/owner-totals.ts';
import { OWNER_OPERATIONS } from './operations/admin/owners.ts';
import {
  createConsoleSession,
  createSignInLink,
  endConsoleSession,
  getConsoleSession,
} from './operations/admin/console.ts';
import { createUploadToken } from './operations/upload-tokens.ts';
import {
  createResumableUpload,
  describeResumableUploads,
  findUploadOffset,
  patchResumableUpload,
  terminateResumableUpload,
} from './operations/resumable.ts';
import { abortS3Upload, listS3Parts, postS3Request } from './operations/s3-requests.ts';
import { listSamples } from './operations/admin/samples.ts';
import { getHealth, getReadiness } from './operations/service.ts';
import {
  createServiceKey,
  getServiceKey,
  listServiceKeys,
  revokeServiceKey,
  rotateServiceKey,
  updateServiceKey,
} from './operations/admin/service-keys.ts';
import {
  cancelCheck,
  getCheck,
  listChecks,
  listFindings,
  startCheck,
} from './operations/admin/storage-checks.ts';
import {
  cancelEncode,
  getOwnerLimits,
  getUsage,
  listEncodes,
  removeOwnerLimits,
  setOwnerLimits,
} from './operations/admin/usage.ts';
import {
  getFrame,
  getPrivateFrame,
  privateExtraOperations,
  publicExtraOperations,
} from './operations/video-extras.ts';
import { listVersions, replaceFile, rollBack } from './operations/versions.ts';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getWebhookEndpoint,
  listEndpointDeliveries,
  listWebhookEndpoints,
  resendEndpointDelivery,
  resendEndpointEvents,
  rotateEndpointSecret,
  testWebhookEndpoint,
  updateWebhookEndpoint,
} from './operations/webhook-endpoints.ts';
import { drainWorker, listWorkers } from './operations/admin/workers.ts';

/** Without the operations that receive webhooks, which depend on the providers that the service registers. */
export const OPERATIONS: readonly Operation[] = [
  createUpload,
  importMedia,
  createClip,
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
  replaceFile,
  listAssets,
  getAsset,
  updateAsset,
  changeAssets,
  deleteAsset,
  restoreAsset,
  listVersions,
  rollBack,
  setLegalHold,
  releaseLegalHold,
  getTimeline,
  streamAssetEvents,
  streamEvents,
  createEventTicket,
  getUsage,
  createUploadToken,
  createConsoleSession,
  getConsoleSession,
  endConsoleSession,
  createSignInLink,
  getPlayback,
  revokePlayback,
  listCaptions,
  putCaptions,
  getCaptions,
  deleteCaptions,
  getDownloadUrl,
  downloadOriginal,
  ...publicEntryOperations,
  ...privateEntryOperations,
  getSegment,
  getPrivateSegment,
  ...encryptedOperations,
  ...publicExtraOperations,
  ...privateExtraOperations,
  getFrame,
  getPrivateFrame,
  getEmbed,
  getPrivateEmbed,
  getOembed,
  ...playerScriptOperations,
  getImage,
  getImageSigningKey,
  getPrivateImage,
  ...COLLECTION_OPERATIONS,
  createWebhookEndpoint,
  listWebhookEndpoints,
  getWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateEndpointSecret,
  testWebhookEndpoint,
  listEndpointDeliveries,
  resendEndpointDelivery,
  resendEndpointEvents,
  listAllAssets,
  setLegalHoldAsOperator,
  releaseLegalHoldAsOperator,
  listDeliveries,
  getDelivery,
  replayDeliveries,
  listProviders,
  startCheck,
  listChecks,
  getCheck,
  listFindings,
  cancelCheck,
  listCdnPurges,
  getOwnerLimits,
  setOwnerLimits,
  removeOwnerLimits,
  ...OWNER_OPERATIONS,
  adoptObject,
  listEncodes,
  cancelEncode,
  listOwners,
  getOwner,
  countAssets,
  listQueues,
  listJobs,
  getJob,
  runJobAgain,
  cancelJob,
  listWorkers,
  drainWorker,
  listSamples,
  getMetrics,
  getDiagnostics,
  echoRequest,
  echoUpload,
  streamDiagnostics,
  streamDownload,
  listServiceKeys,
  createServiceKey,
  getServiceKey,
  updateServiceKey,
  revokeServiceKey,
  rotateServiceKey,
  getHealth,
  getReadiness,
] as readonly Operation[];
