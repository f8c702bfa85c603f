// What an upload-url request becomes, or which of its fields will not do (contract B1, B4).
import { describe, expect, test } from 'vitest';
import { mediaTypeOf } from '../media/media-type.ts';
import { type UploadLimits, type UploadRequest, toNewAsset } from './upload-request.ts';

const LIMITS: UploadLimits = {
  maxUploadBytes: 1000,
  uploadTtlSeconds: 60,
  mediaTypeOf,
  mimeTypes: ['image/png', 'video/mp4'],
  defaultProvider: 'onprem',
  uploadProviders: ['onprem'],
  hostedProviders: ['cdnhost', 'edgehost'],
};
const VIDEO: UploadRequest = { filename: 'a.mp4', content_type: 'video', mime_type: 'video/mp4' };

const byUser = (wishes: Partial<UploadRequest> = {}, limits: Partial<UploadLimits> = {}) =>
  toNewAsset({ ...VIDEO, ...wishes }, { isService: false, limits: { ...LIMITS, ...limits } });
const byService = (wishes: Partial<UploadRequest>) =>
  toNewAsset({ ...VIDEO, ...wishes }, { isService: true, limits: LIMITS });
const refusing = (field: string, code = 'BAD_REQUEST') =>
  expect.objectContaining({ code, details: expect.objectContaining({ field }) });

test('what is not said gets its default', () => {
  expect(byUser()).toEqual({
    ...VIDEO,
    kind: 'video',
    visibility: 'private',
    title: null,
    tags: [],
    metadata: null,
    announced_size_bytes: null,
    announced_sha256: null,
    provider: 'onprem',
    provider_video_id: null,
  });
});

test('an image has no provider, whatever is asked for', () => {
  expect(byUser({ content_type: 'image', mime_type: 'image/png', provider: 'cdnhost' })).toMatchObject({
    kind: 'image',
    provider: null,
  });
});

test('a checksum is kept in lower case, a mime_type in our spelling, a content_type as it came', () => {
  expect(
    byUser({
      checksum_sha256: 'AB'.repeat(32),
      mime_type: 'VIDEO/mp4; codecs=avc1',
      content_type: 'Video/Anything',
    }),
  ).toMatchObject({
    announced_sha256: 'ab'.repeat(32),
    mime_type: 'video/mp4',
    content_type: 'Video/Anything',
  });
});

test.each<[string, Partial<UploadRequest>]>([
  ['filename', { filename: 'a\n' }],
  ['filename', { filename: '  ' }],
  ['content_type', { content_type: 'image/png' }],
  ['content_type', { content_type: 'a\0' }],
  ['mime_type', { mime_type: 'image/svg+xml' }],
  ['title', { title: '\ud800' }],
  ['tags', { tags: ['a', '\0'] }],
  ['metadata', { metadata: { a: '\0' } }],
  ['provider', { provider: 'cdnhost' }],
])('%s is named when it will not do', (field, wishes) => {
  expect(() => byUser(wishes)).toThrow(refusing(field));
});

test('more bytes than the maximum are too many, as many are not', () => {
  expect(byUser({ size_bytes: 1000 }).announced_size_bytes).toBe(1000);
  expect(() => byUser({ size_bytes: 1001 })).toThrow(refusing('size_bytes', 'PAYLOAD_TOO_LARGE'));
});

test('the operator narrows types, and sets the default provider', () => {
  expect(() => byUser({}, { mediaTypeOf: () => undefined })).toThrow(refusing('mime_type'));
  expect(() => byUser({}, { defaultProvider: 'edgehost' })).toThrow(refusing('provider'));
  expect(byUser({}, { defaultProvider: 'edgehost', uploadProviders: ['edgehost'] }).provider).toBe(
    'edgehost',
  );
});

describe('a video that is at its provider already', () => {
  const linked = { provider: 'cdnhost', provider_video_id: 'guid-1' } as const;

  test('is linked by a service, even where the provider takes no uploads', () => {
    expect(byService(linked)).toMatchObject({ provider: 'cdnhost', provider_video_id: 'guid-1' });
  });

  test('is not linked by a user, who may say anything', () => {
    expect(byUser({ provider_video_id: 'guid-1' })).toMatchObject({
      provider: 'onprem',
      provider_video_id: null,
    });
    expect(byUser({ provider_video_id: {} }).provider_video_id).toBeNull();
  });

  test.each<[string, Partial<UploadRequest>]>([
    ['provider', { provider_video_id: 'guid-1' }],
    ['provider', { ...linked, provider: 'onprem' }],
    ['mime_type', { ...linked, content_type: 'image', mime_type: 'image/png' }],
    ['provider_video_id', { ...linked, provider_video_id: '' }],
    ['provider_video_id', { ...linked, provider_video_id: 7 }],
    ['provider_video_id', { ...linked, provider_video_id: 'x'.repeat(256) }],
    ['provider_video_id', { ...linked, provider_video_id: 'a\0' }],
  ])('needs a fitting %s', (field, wishes) => {
    expect(() => byService(wishes)).toThrow(refusing(field));
  });

  test('nothing is linked where nothing is named', () => {
    for (const provider_video_id of [undefined, null])
      expect(byService({ provider_video_id }).provider_video_id).toBeNull();
  });
});

test('a refused mime_type lists the supported ones', () => {
  expect(() => byUser({ mime_type: 'video/avi' })).toThrow(
    expect.objectContaining({
      message: 'mime_type "video/avi" is not supported. Supported: image/png, video/mp4.',
      details: { field: 'mime_type', allowed: ['image/png', 'video/mp4'] },
    }),
  );
});

test.each([
  ['image/jpg', 'image/jpeg'],
  ['IMAGE/JPG', 'image/jpeg'],
  ['video/x-m4v', 'video/mp4'],
  ['video/3gpp', 'video/3gpp'],
  ['video/3gpp2', 'video/3gpp2'],
])('%s is stored as %s', (mime_type, stored) => {
  expect(byUser({ mime_type, content_type: mime_type }).mime_type).toBe(stored);
});
