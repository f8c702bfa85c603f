// Tests how upload-url requests become assets, and which field an error names (contract B1, B4).
import type { CreateUploadRequest } from '@mediary/contract/schemas/uploads';
import { describe, expect, test } from 'vitest';
import { NOW } from '../lifecycle/asset.fixture.ts';
import { findMediaType, MEDIA_TYPES } from '@mediary/media-rules/media-type';
import { isFilename, type NewAssetRules, toNewAsset } from './upload-request.ts';

const LIMITS: NewAssetRules = {
  maxUploadBytes: 1000,
  uploadTtlSeconds: 60,
  findMediaType: (mime) => findMediaType(mime, MEDIA_TYPES),
  mimeTypes: ['image/png', 'video/mp4'],
  defaultProvider: 'onprem',
  uploadProviders: ['onprem'],
  hostedProviders: ['cdnhost', 'edgehost'],
  knowsCountries: false,
  uploadRules: new Map(),
};
const VIDEO: CreateUploadRequest = { filename: 'a.mp4', content_type: 'video', mime_type: 'video/mp4' };

const byUser = (request: Partial<CreateUploadRequest> = {}, limits: Partial<NewAssetRules> = {}) =>
  toNewAsset({ ...VIDEO, ...request }, { isService: false, limits: { ...LIMITS, ...limits }, now: NOW });
const byService = (request: Partial<CreateUploadRequest>) =>
  toNewAsset({ ...VIDEO, ...request }, { isService: true, limits: LIMITS, now: NOW });
const errorNaming = (field: string, code = 'BAD_REQUEST') =>
  expect.objectContaining({ code, details: expect.objectContaining({ field }) });

test('omitted fields get their defaults', () => {
  expect(byUser()).toEqual({
    ...VIDEO,
    kind: 'video',
    visibility: 'private',
    title: null,
    tags: [],
    metadata: null,
    external_id: null,
    focal_point: null,
    access: null,
    chapters: null,
    expires_at: null,
    announced_size_bytes: null,
    announced_sha256: null,
    max_duration_s: null,
    provider: 'onprem',
    provider_video_id: null,
    attempt: 1,
    version_of: null,
  });
});

test('an image has no provider, even if the request names one', () => {
  expect(byUser({ content_type: 'image', mime_type: 'image/png', provider: 'cdnhost' })).toMatchObject({
    kind: 'image',
    provider: null,
  });
});

test('the checksum is stored in lower case, mime_type in canonical form, content_type as sent', () => {
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

test('title, tags and metadata are kept as they come', () => {
  const own = { title: 'Launch', tags: ['a', 'b'], metadata: { a: 1 } };
  expect(byUser(own)).toMatchObject(own);
});

test.each<[Partial<CreateUploadRequest>, string]>([
  [{ filename: ' ' }, 'filename must be 1 to 255 characters, not blank, without control characters'],
  [{ content_type: 'a\0' }, 'content_type must not contain null characters or unpaired surrogates'],
  [
    { content_type: 'image/png' },
    'content_type contradicts mime_type "video/mp4": send "video" or the same type',
  ],
  [{ size_bytes: 1001 }, 'size_bytes is larger than the maximum of 1000 bytes'],
  [{ provider: 'cdnhost' }, 'provider cdnhost is not configured for uploads. Configured: onprem.'],
])('the message says what is wrong with %j', (request, message) => {
  expect(() => byUser(request)).toThrow(message);
});

test.each<[string, Partial<CreateUploadRequest>]>([
  ['filename', { filename: 'a\n' }],
  ['filename', { filename: '  ' }],
  ['content_type', { content_type: 'image/png' }],
  ['content_type', { content_type: 'a\0' }],
  ['mime_type', { mime_type: 'image/svg+xml' }],
  ['title', { title: '\ud800' }],
  ['tags', { tags: ['a', '\0'] }],
  ['metadata', { metadata: { a: '\0' } }],
  ['provider', { provider: 'cdnhost' }],
])('the error names an invalid %s', (field, request) => {
  expect(() => byUser(request)).toThrow(errorNaming(field));
});

test('size_bytes may equal the maximum, not exceed it', () => {
  expect(byUser({ size_bytes: 1000 }).announced_size_bytes).toBe(1000);
  expect(() => byUser({ size_bytes: 1001 })).toThrow(errorNaming('size_bytes', 'PAYLOAD_TOO_LARGE'));
});

test('the operator restricts media types and sets the default provider', () => {
  expect(() => byUser({}, { findMediaType: () => undefined })).toThrow(errorNaming('mime_type'));
  expect(() => byUser({}, { defaultProvider: 'edgehost' })).toThrow(errorNaming('provider'));
  expect(byUser({}, { defaultProvider: 'edgehost', uploadProviders: ['edgehost'] }).provider).toBe(
    'edgehost',
  );
});

describe('provider_video_id', () => {
  const linked = { provider: 'cdnhost', provider_video_id: 'guid-1' } as const;

  test('links the video for a service caller, even if the provider accepts no uploads', () => {
    expect(byService(linked)).toMatchObject({ provider: 'cdnhost', provider_video_id: 'guid-1' });
  });

  test('is ignored for a user caller', () => {
    expect(byUser({ provider_video_id: 'guid-1' })).toMatchObject({
      provider: 'onprem',
      provider_video_id: null,
    });
    expect(byUser({ provider_video_id: {} }).provider_video_id).toBeNull();
  });

  test.each<[string, Partial<CreateUploadRequest>]>([
    ['provider', { provider_video_id: 'guid-1' }],
    ['provider', { ...linked, provider: 'onprem' }],
    ['mime_type', { ...linked, content_type: 'image', mime_type: 'image/png' }],
    ['provider_video_id', { ...linked, provider_video_id: '' }],
    ['provider_video_id', { ...linked, provider_video_id: ' ' }],
    ['provider_video_id', { ...linked, provider_video_id: 7 }],
    ['provider_video_id', { ...linked, provider_video_id: 'x'.repeat(256) }],
    ['provider_video_id', { ...linked, provider_video_id: 'a\0' }],
  ])('needs a valid %s', (field, request) => {
    expect(() => byService(request)).toThrow(errorNaming(field));
  });

  test('has an id of up to 255 characters', () => {
    const id = 'x'.repeat(255);
    expect(byService({ ...linked, provider_video_id: id }).provider_video_id).toBe(id);
  });

  test.each<[Partial<CreateUploadRequest>, string]>([
    [{ provider_video_id: 7 }, 'provider_video_id must be text of 1 to 255 characters'],
    [{ content_type: 'image', mime_type: 'image/png' }, 'provider_video_id needs a video mime_type'],
    [{ provider: 'onprem' }, 'provider_video_id needs provider cdnhost or edgehost'],
  ])('is refused with a message: %j', (request, message) => {
    expect(() => byService({ ...linked, ...request })).toThrow(message);
  });

  test('is null if it is omitted or null', () => {
    for (const provider_video_id of [undefined, null])
      expect(byService({ provider_video_id }).provider_video_id).toBeNull();
  });
});

test('the error of an unsupported mime_type lists the supported ones', () => {
  expect(() => byUser({ mime_type: 'video/avi' })).toThrow(
    expect.objectContaining({
      message: 'mime_type "video/avi" is not supported. Supported: image/png, video/mp4.',
      details: { field: 'mime_type', reason: 'unsupported_value', allowed: ['image/png', 'video/mp4'] },
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

describe('filename', () => {
  test.each([
    ['one letter', 'a'],
    ['255 letters', 'x'.repeat(255)],
    ['255 emoji, two places each', '🎬'.repeat(255)],
    ['dots', '..'],
    ['a path', '../../etc/passwd'],
    ['a dash in front', '-rf'],
    ['right to left', '\u202etxt.exe'],
    ['a joined family', '👨‍👩‍👧'],
    ['quotes', '"\'`'],
    ['spaces around', ' a '],
    ['a combining mark alone', '\u0301'],
  ])('may be %s', (_what, name) => expect(isFilename(name)).toBe(true));

  test.each([
    ['empty', ''],
    ['blank', ' \u00a0\u2003'],
    ['256 letters', 'x'.repeat(256)],
    ['256 emoji', '🎬'.repeat(256)],
    ['100 KB', 'x'.repeat(100_000)],
    ['a NUL', 'a\0b'],
    ['a line break', 'a\r\nb'],
    ['a C1 control', 'a\u0085b'],
    ['DEL', 'a\x7f'],
    ['a lone surrogate', 'a\ud83d'],
    ['a reversed pair', '\udc00\ud800'],
  ])('may not be %s', (_what, name) => expect(isFilename(name)).toBe(false));
});

test('access rules that the service could not hold are refused', () => {
  const limits = { uploadProviders: ['onprem', 'edgehost'] };
  const access = { referrers: ['A.example'] };
  expect(byUser({ access }).access).toEqual({ referrers: ['a.example'] });
  expect(() => byUser({ provider: 'edgehost', access }, limits)).toThrow(errorNaming('access.referrers'));
  expect(() => byUser({ access: { countries: ['DE'] } })).toThrow(errorNaming('access.countries'));
  expect(byUser({ access: { countries: ['DE'] } }, { knowsCountries: true }).access).not.toBeNull();
});

describe('what a provider accepts', () => {
  const RULES = { maxDurationSeconds: 36_000 };
  const limits = { uploadProviders: ['onprem', 'edgehost'], uploadRules: new Map([['edgehost', RULES]]) };
  const edgehost = (request: Partial<CreateUploadRequest> = {}, more: Partial<NewAssetRules> = {}) =>
    byUser({ provider: 'edgehost', size_bytes: 100, ...request }, { ...limits, ...more });

  test('a file of unknown size is accepted', () => {
    expect(byUser({ provider: 'edgehost' }, limits)).toMatchObject({ announced_size_bytes: null });
  });

  test('the announced duration gets a margin, and the bound of a service caller replaces it', () => {
    expect(edgehost({ duration_ms: 1 }).max_duration_s).toBe(6);
    expect(edgehost({ duration_ms: 600_000, max_duration_s: 'ignored' }).max_duration_s).toBe(611);
    const asService = (request: object) =>
      toNewAsset({ ...VIDEO, ...request }, { isService: true, limits: { ...LIMITS, ...limits }, now: NOW });
    expect(asService({ duration_ms: 600_000, max_duration_s: 900 }).max_duration_s).toBe(900);
    for (const bound of [0, 1.5, '900', 2_592_001, Number.NaN])
      expect(() => asService({ max_duration_s: bound })).toThrow(errorNaming('max_duration_s'));
  });

  test('a longer video than the provider accepts is refused before its upload', () => {
    expect(edgehost({ duration_ms: 36_000_000 }).max_duration_s).toBe(36_365);
    expect(() => edgehost({ duration_ms: 36_000_001 })).toThrow(errorNaming('duration_ms'));
    expect(byUser({ duration_ms: 36_000_001 }, limits).max_duration_s).toBe(36_366);
  });
});
