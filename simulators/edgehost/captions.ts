// Captions of the edgehost API: sent as a form, listed, and read as WebVTT.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Call } from '../route.ts';
import { type Account, type EdgehostCaption, type Entry, entryOf } from './account.ts';
import { badRequest, notFound, success } from './envelope.ts';
import { type ApiRoute, VIDEO } from './guard.ts';
import { readFormFile } from './uploads.ts';

const CAPTIONS = `${VIDEO}/captions`;
const LANGUAGE = `${CAPTIONS}/(?<language>[A-Za-z\\d-]+)`;
const MAX_BYTES = 10 * 1024 * 1024;

export const CAPTION_ROUTES: readonly ApiRoute[] = [
  [
    'captions-list',
    'GET',
    CAPTIONS,
    (account, call) => success(entryOf(account, call.params['uid']).captions),
  ],
  ['captions-get', 'GET', LANGUAGE, (account, call) => success(findCaption(account, call).caption)],
  ['captions-vtt', 'GET', `${LANGUAGE}/vtt`, readCaptions],
  ['captions-put', 'PUT', LANGUAGE, putCaptions],
  ['captions-delete', 'DELETE', LANGUAGE, deleteCaptions],
];

function findCaption(account: Account, { params }: Call) {
  const entry = entryOf(account, params['uid']);
  const caption = entry.captions.find(({ language }) => language === params['language']);
  if (!caption) throw notFound();
  return { entry, caption };
}

const captionFile = ({ folder }: Entry, language: string): string => join(folder, `captions-${language}.vtt`);

function readCaptions(account: Account, call: Call) {
  const { entry, caption } = findCaption(account, call);
  const file = captionFile(entry, caption.language);
  return { status: 200, headers: { 'Content-Type': 'text/vtt' }, body: { file } };
}

async function putCaptions(account: Account, call: Call) {
  const entry = entryOf(account, call.params['uid']);
  const language = call.params['language'] ?? '';
  const file = await readFormFile(call, MAX_BYTES);
  if (!file) throw badRequest('the form has no field `file`');
  await mkdir(entry.folder, { recursive: true });
  await writeFile(captionFile(entry, language), file.stream());
  const label = new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language;
  const caption: EdgehostCaption = { language, label, generated: false, status: 'ready' };
  entry.captions = [...entry.captions.filter((other) => other.language !== language), caption];
  return success(caption);
}

async function deleteCaptions(account: Account, call: Call) {
  const { entry, caption } = findCaption(account, call);
  await rm(captionFile(entry, caption.language), { force: true });
  entry.captions = entry.captions.filter((other) => other !== caption);
  return success('');
}
