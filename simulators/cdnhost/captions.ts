// Captions and collections of the cdnhost API.
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Call, json, readJson } from '../route.ts';
import { type CdnhostCollection, type Entry, entryOf, type Library, result } from './library.ts';
import type { CdnhostCaption } from './video.ts';

const captionFile = ({ folder }: Entry, language: string): string =>
  join(folder, 'captions', `${language}.vtt`);

const isCaptionOf =
  (language: string) =>
  (caption: CdnhostCaption): boolean =>
    caption.srclang === language;

/** The file is Base64 in JSON. */
export async function putCaptions(library: Library, call: Call) {
  const entry = entryOf(library, call.params['video']);
  const language = call.params['language'] ?? '';
  const { label, captionsFile } = await readJson(call);
  if (typeof captionsFile !== 'string') return result(400, 'The captions file is required');
  await mkdir(join(entry.folder, 'captions'), { recursive: true });
  await writeFile(captionFile(entry, language), Buffer.from(captionsFile, 'base64'));
  const { captions } = entry.video;
  const version = (captions.find(isCaptionOf(language))?.version ?? 0) + 1;
  const others = captions.filter(({ srclang }) => srclang !== language);
  const added = { srclang: language, label: String(label ?? language), version };
  entry.video = { ...entry.video, captions: [...others, added] };
  return result(200, 'OK');
}

export async function deleteCaptions(library: Library, call: Call) {
  const entry = entryOf(library, call.params['video']);
  const language = call.params['language'] ?? '';
  if (!entry.video.captions.some(isCaptionOf(language))) return result(404, 'Captions were not found');
  await rm(captionFile(entry, language), { force: true });
  const captions = entry.video.captions.filter(({ srclang }) => srclang !== language);
  entry.video = { ...entry.video, captions };
  return result(200, 'OK');
}

export async function createCollection({ collections, settings }: Library, call: Call) {
  const { name } = await readJson(call);
  const collection: CdnhostCollection = { guid: randomUUID(), name: String(name ?? '') };
  collections.set(collection.guid, collection);
  return json(200, { videoLibraryId: settings.libraryId, ...collection });
}

export function listCollections({ collections, settings, entries }: Library, { query }: Call) {
  const currentPage = Math.max(1, Number(query.get('page')) || 1);
  const itemsPerPage = Math.max(1, Number(query.get('itemsPerPage')) || 100);
  const videos = [...entries.values()].map(({ video }) => video);
  const all = [...collections.values()].map((collection) => ({
    videoLibraryId: settings.libraryId,
    ...collection,
    videoCount: videos.filter(({ collectionId }) => collectionId === collection.guid).length,
  }));
  const items = all.slice((currentPage - 1) * itemsPerPage, currentPage * itemsPerPage);
  return json(200, { totalItems: all.length, currentPage, itemsPerPage, items });
}
