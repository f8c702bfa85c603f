// Tests how the headers of tus requests are read.
import { describe, expect, test } from 'vitest';
import { parseAppend, parseCreation, type TusHeaders } from './tus-headers.ts';

const BYTES = 'application/offset+octet-stream';

describe('a creation', () => {
  test.each<[TusHeaders, object]>([
    [{ 'upload-length': '0' }, { sizeBytes: 0, hasBytes: false }],
    [
      { 'upload-length': '7', 'content-type': BYTES },
      { sizeBytes: 7, hasBytes: true },
    ],
    // Some HTTP clients send a type of their own with a request without a body.
    [
      { 'upload-length': '7', 'content-type': 'text/plain' },
      { sizeBytes: 7, hasBytes: false },
    ],
    [{ 'upload-defer-length': '1' }, { sizeBytes: undefined, hasBytes: false }],
    [{ 'upload-length': '7', 'upload-metadata': 'filename YS5tcDQ=,is_draft' }, { sizeBytes: 7 }],
  ])('of %j', (headers, expected) => {
    expect(parseCreation(headers)).toMatchObject(expected);
  });

  test.each<[TusHeaders, string]>([
    [{}, 'Upload-Length'],
    [{ 'upload-length': '7', 'upload-defer-length': '1' }, 'Upload-Length'],
    [{ 'upload-length': '-1' }, 'Upload-Length'],
    [{ 'upload-length': '07' }, 'Upload-Length'],
    [{ 'upload-length': '1e3' }, 'Upload-Length'],
    [{ 'upload-length': '99999999999999999999' }, 'Upload-Length'],
    [{ 'upload-defer-length': '2' }, 'Upload-Defer-Length'],
    [{ 'upload-length': '7', 'upload-metadata': '' }, 'Upload-Metadata'],
    [{ 'upload-length': '7', 'upload-metadata': 'filename not*base64' }, 'Upload-Metadata'],
    [{ 'upload-length': '7', 'upload-metadata': 'name YQ==,name YQ==' }, 'Upload-Metadata'],
    [{ 'upload-length': '7', 'upload-metadata': 'name YQ== more' }, 'Upload-Metadata'],
  ])('with %j names the header', (headers, field) => {
    expect(() => parseCreation(headers)).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST', details: expect.objectContaining({ field }) }),
    );
  });
});

describe('an append', () => {
  test.each<[TusHeaders, object]>([
    [
      { 'upload-offset': '3', 'content-type': BYTES },
      { offset: 3, length: undefined },
    ],
    [
      { 'upload-offset': '3', 'content-type': BYTES, 'upload-length': '3' },
      { offset: 3, length: 3 },
    ],
  ])('of %j', (headers, expected) => {
    expect(parseAppend(headers)).toEqual(expected);
  });

  test.each<[TusHeaders, string]>([
    [{ 'content-type': BYTES }, 'Upload-Offset'],
    [{ 'upload-offset': '-3', 'content-type': BYTES }, 'Upload-Offset'],
    [{ 'upload-offset': '3' }, 'Content-Type'],
    [{ 'upload-offset': '3', 'content-type': 'video/mp4' }, 'Content-Type'],
    [{ 'upload-offset': '3', 'content-type': BYTES, 'upload-length': '2' }, 'Upload-Length'],
  ])('with %j names the header', (headers, field) => {
    expect(() => parseAppend(headers)).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST', details: expect.objectContaining({ field }) }),
    );
  });
});
