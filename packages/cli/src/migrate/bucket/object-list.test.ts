// Pages of ListObjectsV2, and the items among the objects.
import { expect, test } from 'vitest';
import { findMediaObjects, parseObjectPage } from './object-list.ts';

const PAGE = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>films</Name><Prefix>a%2F</Prefix>
<NextContinuationToken>1/a&amp;b==</NextContinuationToken><IsTruncated>true</IsTruncated>
<Contents><Key>a/My+film%2B%C3%A4.mp4</Key><LastModified>2025-01-02T03:04:05.000Z</LastModified>
<ETag>&quot;e&quot;</ETag><Size>1234</Size></Contents>
<Contents><Key>a/b.txt</Key><Size>0</Size></Contents></ListBucketResult>`;

test('a page has decoded keys and the token of the next one', () => {
  expect(parseObjectPage(PAGE)).toEqual({
    objects: [
      { key: 'a/My film+ä.mp4', sizeBytes: 1234, modifiedAt: '2025-01-02T03:04:05.000Z' },
      { key: 'a/b.txt', sizeBytes: 0, modifiedAt: null },
    ],
    continuationToken: '1/a&b==',
  });
  expect(parseObjectPage('<Error><Code>AccessDenied</Code></Error>')).toBeUndefined();
});

const object = (key: string) => ({ key, sizeBytes: 1, modifiedAt: null });

test('caption files belong to the object of their name; folders are no items', () => {
  const keys = ['a/', 'a/film.de.vtt', 'a/film.mp4', 'a/film.pt-br.srt', 'b/film.en.vtt', 'b/film.mov'];
  expect(findMediaObjects([...keys, 'a/notes.vtt', 'a/readme.txt'].map(object))).toEqual([
    {
      ...object('a/film.mp4'),
      mimeType: 'video/mp4',
      captions: [
        { language: 'de', key: 'a/film.de.vtt' },
        { language: 'pt-BR', key: 'a/film.pt-br.srt' },
      ],
    },
    {
      ...object('b/film.mov'),
      mimeType: 'video/quicktime',
      captions: [{ language: 'en', key: 'b/film.en.vtt' }],
    },
    { ...object('a/notes.vtt'), mimeType: undefined, captions: [] },
    { ...object('a/readme.txt'), mimeType: undefined, captions: [] },
  ]);
});
