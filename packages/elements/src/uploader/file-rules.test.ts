// Which files are refused before a request, and by what a refusal of the service teaches.
import { createMediary, MediaryError } from '@mediary/client';
import { expect, test } from 'vitest';
import { type FileRules, findAcceptedKinds, findDefect, findRefusal, learnLimits } from './file-rules.ts';
import { ENGLISH } from './texts.ts';
import { UPLOADER_DEFAULTS } from './uploader-context.ts';

const { accept: DEFAULT_ACCEPT } = UPLOADER_DEFAULTS;

const createRules = (rules: Partial<FileRules> = {}): FileRules => ({
  accept: DEFAULT_ACCEPT,
  maxBytes: undefined,
  allowedTypes: undefined,
  maxServiceBytes: undefined,
  ...rules,
});
const refusalOf = (name: string, type: string, rules = createRules()) =>
  findRefusal(new File(['12345'], name, { type }), rules, ENGLISH);

test.each<[string, string, string, boolean]>([
  ['film.mp4', 'video/mp4', DEFAULT_ACCEPT, true],
  ['film.mkv', '', DEFAULT_ACCEPT, true],
  ['IMG_1.HEIC', '', 'image/*', true],
  ['page.svg', 'image/svg+xml', DEFAULT_ACCEPT, false],
  ['notes.txt', 'text/plain', DEFAULT_ACCEPT, false],
  ['unknown', '', '', false],
  ['film.mp4', 'video/mp4', 'image/*, .png', false],
  ['a.PNG', 'image/png', ' .png ,', true],
])('%s of the type "%s" where "%s" is accepted', (...[name, type, accept, isTaken]) => {
  expect(refusalOf(name, type, createRules({ accept })) === undefined).toBe(isTaken);
});

test.each([
  [DEFAULT_ACCEPT, 'Drop images and videos here', 'images and videos'],
  ['video/*', 'Drop videos here', 'videos'],
  ['audio/*', 'Drop audio files here', 'audio files'],
  ['image/*, .mp4', 'Drop images and videos here', 'images, MP4'],
  ['.JPG,image/png', 'Drop images here', 'JPG, PNG'],
  ['video/*,.mkv,audio/mpeg', 'Drop videos and audio files here', 'videos, MPEG'],
  ['', 'Drop images, videos and audio files here', 'images, videos and audio files'],
  ['.pdf', 'Drop files here', 'PDF'],
])('where "%s" is accepted: %s', (accept, prompt, allowed) => {
  expect(ENGLISH.prompt(findAcceptedKinds(accept))).toBe(prompt);
  const refusal = refusalOf('notes', '', createRules({ accept }));
  expect(refusal).toBe(`“notes” cannot be uploaded. Allowed: ${allowed}.`);
});

test('a refusal lists only types that both the page and the service allow', () => {
  const rules = createRules({
    accept: 'video/*,.png',
    allowedTypes: ['image/png', 'image/gif', 'video/mp4'],
  });
  expect(refusalOf('a.gif', 'image/gif', rules)).toBe('“a.gif” cannot be uploaded. Allowed: PNG, MP4.');
});

test('an empty file and one above the limit of the page are refused', () => {
  expect(findRefusal(new File([], 'a.png'), createRules(), ENGLISH)).toBe('“a.png” is empty.');
  const rules = createRules({ maxBytes: 4 });
  expect(refusalOf('a.png', 'image/png', rules)).toBe('“a.png” is larger than 4\u00a0bytes.');
});

test('the next files are held against the limits that the service named', () => {
  const rules = createRules();
  const refuse = (status: number, details: Record<string, unknown>) =>
    learnLimits(rules, new MediaryError('No.', { errorCode: 'BAD_REQUEST', status, details }));
  refuse(400, { field: 'mime_type', allowed: ['image'] });
  refuse(400, { field: 'size_bytes', reason: 'quota_exceeded', limit: 1 });
  expect(refusalOf('a.gif', 'image/gif', rules)).toBeUndefined();
  refuse(400, { field: 'mime_type', allowed: ['image/png', 'image/jpeg'] });
  refuse(413, { field: 'size_bytes', limit: 4 });
  expect(refusalOf('a.gif', 'image/gif', rules)).toBe('“a.gif” cannot be uploaded. Allowed: PNG, JPEG.');
  expect(refusalOf('a.png', 'image/png', rules)).toContain('larger than');
});

test.each([
  ['cat.jpg', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR', ENGLISH.problems['type_mismatch']],
  ['film.mp4', '\0\0\0\x10ftypisom\0\0\0\0', ENGLISH.problems['not_media']],
  ['film.mp4', '#EXTM3U\n', 'The file is a playlist that names other files.'],
  ['cat.gif', 'GIF89a', undefined],
])('the bytes of %s that start with %j: %s', async (name, bytes, sentence) => {
  const { media } = createMediary({ baseUrl: 'http://127.0.0.1:1', token: '' });
  const file = new File([Uint8Array.from(bytes, (character) => character.charCodeAt(0))], name);
  const options = { texts: ENGLISH, signal: new AbortController().signal };
  expect(await findDefect(file, media, options)).toBe(sentence);
});
