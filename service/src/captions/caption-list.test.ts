// Tests how the captions of an asset change, and which assets have any.
import { describe, expect, test } from 'vitest';
import type { Asset, Caption } from '../assets/asset.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { assertCaptionable, decideCaption, decideEmbedded, decideRemoval } from './caption-list.ts';

const caption = (language: string, overrides: Partial<Caption> = {}): Caption => ({
  language,
  label: language,
  kind: 'subtitles',
  isDefault: false,
  isEmbedded: false,
  fileId: `file of ${language}`,
  sizeBytes: 100,
  endMs: 4000,
  updatedAt: NOW.toISOString(),
  ...overrides,
});
const video = (...captions: Caption[]): Asset =>
  createVideo({ captions: captions.length > 0 ? captions : null });
const ACTOR = { source: 'caller', caller: 'user' };
const EVENT = { type: 'asset.updated', data: { ...ACTOR, fields: ['captions'] } };

test('captions replace those of their language, and take over the default', () => {
  const added = caption('de', { isDefault: true, fileId: 'new' });
  expect(decideCaption(video(caption('en', { isDefault: true }), caption('de')), added, ACTOR)).toEqual({
    set: { captions: [caption('en'), added] },
    events: [EVENT],
    jobs: [],
  });
});

test('captions in more than 50 languages are refused, a replacement is not', () => {
  const fifty = Array.from({ length: 50 }, (_, index) => caption(`l${index}`));
  expect(() => decideCaption(video(...fifty), caption('en'), ACTOR)).toThrow(
    expect.objectContaining({ code: 'CONFLICT', details: { reason: 'too_many_captions', limit: 50 } }),
  );
  expect(decideCaption(video(...fifty), caption('l7'), ACTOR).set.captions).toHaveLength(50);
});

test('the last captions leave null', () => {
  expect(decideRemoval(video(caption('en')), 'en', ACTOR)).toEqual({
    set: { captions: null },
    events: [EVENT],
    jobs: [],
  });
  expect(() => decideRemoval(video(caption('en')), 'de', ACTOR)).toThrow(
    expect.objectContaining({ code: 'NOT_FOUND' }),
  );
});

describe('embedded captions', () => {
  const embedded = (language: string, fileId = 'new') => caption(language, { isEmbedded: true, fileId });

  test('replace those of an earlier run, but not those of callers', () => {
    const seen = video(caption('en'), embedded('fr', 'old'), embedded('it', 'old'));
    expect(decideEmbedded(seen, [embedded('en'), embedded('fr')])?.set).toEqual({
      captions: [caption('en'), embedded('fr')],
    });
  });

  test('change nothing where there are none, nor on a deleted asset', () => {
    expect(decideEmbedded(video(caption('en')), [embedded('en')])).toBeUndefined();
    expect(decideEmbedded(createVideo({ deleted_at: NOW }), [embedded('en')])).toBeUndefined();
  });

  test('leave room for those of callers', () => {
    const given = Array.from({ length: 49 }, (_, index) => caption(`l${index}`));
    expect(decideEmbedded(video(...given), [embedded('en'), embedded('fr')])?.set.captions).toHaveLength(50);
  });
});

test('a deleted asset takes none', () => {
  const deleted = createVideo({ deleted_at: NOW });
  expect(() => decideCaption(deleted, caption('en'), ACTOR)).toThrow(
    expect.objectContaining({ code: 'NOT_FOUND' }),
  );
});

describe('only videos of our encoder have captions', () => {
  const urls = {
    kind: 'urls',
    attempt: 1,
    hls: 'https://a.example/1.m3u8',
    dash: null,
    thumbnail: null,
  } as const;
  test.each([
    ['an image', createVideo({ kind: 'image', provider: null })],
    ['a hosted video', createVideo({ provider: 'cdnhost' })],
    ["a video of an operator's encoder", createVideo({ playback: urls })],
  ])('not %s', (_what, asset) =>
    expect(() => assertCaptionable(asset)).toThrow(
      expect.objectContaining({ code: 'CONFLICT', details: { reason: 'not_encoded_here' } }),
    ),
  );
  test.each(['pending_upload', 'processing', 'ready', 'failed'] as const)(
    'also while it is %s',
    (stream_status) => assertCaptionable(createVideo({ stream_status })),
  );
});
