// Pages about uploads and assets.
import type { ReferencePage } from './reference-page.ts';

export const UPLOAD_PAGES: readonly ReferencePage[] = [
  {
    name: 'uploads',
    title: 'Uploads',
    about: 'An upload creates an asset, takes its bytes and completes it.',
    links: { Contract: 'contract/uploads.md', Guide: 'guides/upload-from-a-browser.md' },
    operations: ['createUpload', 'putUpload', 'completeUpload', 'retryAsset'],
  },
  {
    name: 'upload-targets',
    title: 'Upload targets',
    about: 'An upload target says where to send the bytes of an asset, and how.',
    links: { Contract: 'contract/uploads.md', Protocols: 'guides/resumable-uploads.md' },
    operations: [],
    objects: ['UploadTarget'],
  },
  {
    name: 'upload-tokens',
    title: 'Upload tokens',
    about: 'An upload token lets a page upload files within bounds that a back end sets.',
    links: { Contract: 'contract/authentication.md', Guide: 'guides/upload-from-a-browser.md' },
    operations: ['createUploadToken'],
  },
  {
    name: 'imports',
    title: 'Imports',
    about: 'An import creates an asset from a file that the service downloads.',
    links: { Contract: 'contract/imports-and-clips.md', Guide: 'guides/import-by-url.md' },
    operations: ['importMedia'],
  },
  {
    name: 'clips',
    title: 'Clips',
    about: 'A clip is a video of its own, cut from a part of another one.',
    links: { Contract: 'contract/imports-and-clips.md', Guide: 'guides/clips.md' },
    operations: ['createClip'],
  },
  {
    name: 'resumable-uploads',
    title: 'Resumable uploads',
    about: 'tus clients call these operations; you need not call them yourself.',
    links: { Contract: 'contract/resumable-uploads.md', Guide: 'guides/resumable-uploads.md' },
    operations: [
      'createResumableUpload',
      'describeResumableUploads',
      'findUploadOffset',
      'patchResumableUpload',
      'terminateResumableUpload',
    ],
  },
  {
    name: 'multipart-uploads',
    title: 'Multipart uploads',
    about: 'Large files go in parts, straight to an S3 store.',
    links: { Contract: 'contract/s3-uploads.md', Guide: 'guides/s3-storage.md' },
    operations: ['createMultipartUpload', 'completeMultipartUpload', 'abortMultipartUpload'],
  },
  {
    name: 'upload-parts',
    title: 'Parts of an upload',
    about: 'Each part of a multipart upload goes to a signed URL of the store.',
    links: { Contract: 'contract/s3-uploads.md', Guide: 'guides/s3-storage.md' },
    operations: ['signUploadPart', 'signUploadParts', 'listUploadParts'],
  },
  {
    name: 's3-requests',
    title: 'S3 requests',
    about: 'Clients that speak the XML of S3, such as Uppy, upload in parts with these operations.',
    links: { Contract: 'contract/s3-uploads.md', Guide: 'guides/s3-storage.md' },
    operations: ['postS3Request', 'listS3Parts', 'abortS3Upload'],
  },
];

export const ASSET_PAGES: readonly ReferencePage[] = [
  {
    name: 'assets',
    title: 'Assets',
    about: 'An asset is an image, a video or an audio file, with everything that was made from it.',
    links: { Contract: 'contract/asset.md', 'Changes and deletion': 'contract/changes.md' },
    operations: ['listAssets', 'getAsset', 'updateAsset', 'deleteAsset', 'restoreAsset'],
  },
  {
    name: 'asset',
    title: 'The asset',
    about: 'These are the members of an asset and of the objects inside it.',
    links: { Contract: 'contract/asset.md', States: 'contract/states.md' },
    operations: [],
    objects: ['Asset'],
  },
  {
    name: 'batches',
    title: 'Batches',
    about: 'A batch changes up to 100 assets in one request, each on its own.',
    links: { Contract: 'contract/changes.md' },
    operations: ['changeAssets'],
  },
  {
    name: 'timeline',
    title: 'Timeline',
    about: 'The timeline of an asset lists what happened to it.',
    links: { Contract: 'contract/events.md' },
    operations: ['getTimeline'],
  },
  {
    name: 'versions',
    title: 'File versions',
    about: 'A replacement gives an asset another file under the same id.',
    links: { Contract: 'contract/versions.md', Guide: 'guides/replace-a-file.md' },
    operations: ['replaceFile', 'listVersions', 'rollBack'],
  },
  {
    name: 'legal-holds',
    title: 'Legal holds',
    about: 'Nothing deletes an asset while it is under a legal hold.',
    links: { Contract: 'contract/changes.md', Guide: 'guides/delete-and-keep.md' },
    operations: ['setLegalHold', 'releaseLegalHold', 'setLegalHoldAsOperator', 'releaseLegalHoldAsOperator'],
  },
  {
    name: 'usage',
    title: 'Usage',
    about: 'The usage of an owner is what its assets store, beside its quotas.',
    links: { Contract: 'contract/limits.md' },
    operations: ['getUsage'],
  },
];
