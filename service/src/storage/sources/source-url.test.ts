// Which sources may be adopted, by their names alone.
import { describe, expect, test } from 'vitest';
import { createSettings } from '../../platform/settings/read-settings.ts';
import { readStorageSettings } from '../settings.ts';
import { ownBucketPlaces, parseSource, parseSourcePlace } from './source-url.ts';

const bucket = {
  scheme: 's3',
  allowed: ['films/2024/', 'media/'],
  own: ownBucketPlaces({ bucket: 'media', prefix: '' }),
} as const;
const disk = { scheme: 'file', allowed: ['/srv/films/'], own: ['/srv/films/store/'] } as const;

const refused = (url: string, rules: Parameters<typeof parseSource>[1] = bucket) => {
  try {
    return parseSource(url, rules);
  } catch (error) {
    return (error as { reason?: string }).reason;
  }
};

describe('a source', () => {
  test('has its name from the URL, with its escapes', () => {
    expect(parseSource("s3://films/2024/It's%20(1)%20gr%C3%B6%C3%9Fer%2B.mp4", bucket)).toEqual({
      name: "films/2024/It's (1) größer+.mp4",
      below: 'films/2024/',
    });
    expect(parseSource('s3://media/archive/a.mp4', bucket).below).toBe('media/');
    expect(parseSource('file:///srv/films/100%25.mp4', disk).name).toBe('/srv/films/100%.mp4');
  });

  test.each([
    'films/2024/a.mp4',
    'https://films/2024/a.mp4',
    'file:///srv/films/a.mp4',
    's3://films',
    's3://films/',
    's3://films/2024/',
    's3://films/2024//a.mp4',
    's3://films/2024/../secret/a.mp4',
    's3://films/2024/%2e%2e/secret.mp4',
    's3://films/2024/./a.mp4',
    's3://films/2024/%E0%A4%A.mp4',
    's3://films/2024/a%00.mp4',
    's3://Films/2024/a.mp4',
    's3:///2024/a.mp4',
    `s3://films/2024/${'k'.repeat(4096)}`,
  ])('has another form: %s', (url) => expect(refused(url)).toBe('source_invalid'));

  test.each(['file://srv/films/a.mp4', 'file://host/srv/films/a.mp4', 's3://films/2024/a.mp4'])(
    'of a disk has another form: %s',
    (url) => expect(refused(url, disk)).toBe('source_invalid'),
  );

  test.each([
    ['s3://films/2023/a.mp4', bucket],
    ['s3://films/2024-old/a.mp4', bucket],
    ['s3://other/2024/a.mp4', bucket],
    ['file:///srv/films2/a.mp4', disk],
    ['file:///etc/passwd', disk],
  ] as const)('is outside of the places: %s', (url, rules) =>
    expect(refused(url, rules)).toBe('source_refused'),
  );

  test.each([
    [
      's3://media/originals/01900000-0000-7000-8000-00000000000a/01900000-0000-7000-8000-00000000000b',
      bucket,
    ],
    ['s3://media/health/probe', bucket],
    ['file:///srv/films/store/originals/00/a_b', disk],
  ] as const)('belongs to the service: %s', (url, rules) =>
    expect(refused(url, rules)).toBe('source_refused'),
  );

  test('below the prefix of the store belongs to the service', () => {
    const rules = { ...bucket, own: ownBucketPlaces({ bucket: 'media', prefix: 'mediary/' }) };
    expect(refused('s3://media/mediary/anything', rules)).toBe('source_refused');
    expect(parseSource('s3://media/originals/a.mp4', rules).below).toBe('media/');
  });
});

test.each([
  ['s3://films', { scheme: 's3', name: 'films/' }],
  ['s3://films/', { scheme: 's3', name: 'films/' }],
  ['s3://films/a%2Cb/', { scheme: 's3', name: 'films/a,b/' }],
  ['file:///srv/films', { scheme: 'file', name: '/srv/films/' }],
  ['file:///', undefined],
  ['file://films', undefined],
  ['s3://', undefined],
  ['films', undefined],
  ['s3://films/../other', undefined],
])('the place %s', (url, place) => expect(parseSourcePlace(url)).toEqual(place));

describe('ADOPT_SOURCES', () => {
  const read = (environment: Record<string, string>) => {
    const settings = createSettings(environment);
    return { ...readStorageSettings(settings), problems: settings.problems };
  };

  test('names places of the store', () => {
    const STORAGE_URL = 's3://media?region=eu-central-1';
    expect(read({ STORAGE_URL, ADOPT_SOURCES: 's3://films/2024, s3://media/archive' })).toMatchObject({
      adoptSources: ['films/2024/', 'media/archive/'],
      problems: [],
    });
    expect(read({ ADOPT_SOURCES: 'file:///srv/films' })).toMatchObject({
      adoptSources: ['/srv/films/'],
      problems: [],
    });
    expect(read({}).adoptSources).toEqual([]);
  });

  test.each([
    ['films', {}, /neither s3:\/\/<bucket>\/<prefix> nor file:\/\/\/<folder>/],
    ['s3://films', {}, /must have file: places/],
    ['file:///srv', { STORAGE_URL: 's3://media?region=eu-central-1' }, /must have s3: places/],
    [
      's3://media/originals',
      { STORAGE_URL: 's3://media?region=eu-central-1' },
      /media\/originals\/, where the service stores its own objects/,
    ],
    ['s3://media/own/x', { STORAGE_URL: 's3://media?region=eu-central-1&prefix=own' }, /its own objects/],
  ])('is refused: %s', (ADOPT_SOURCES, others, problem) => {
    expect(read({ ADOPT_SOURCES, ...others }).problems).toEqual([expect.stringMatching(problem)]);
  });
});
