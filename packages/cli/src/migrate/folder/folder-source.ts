// A folder of this machine as a source: its images and videos, with caption files beside them. The service
// adopts them, so it must see the folder under the same path.
import { lstat, readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { usageError } from '../../exit-codes.ts';
import { toFilename, toMediaFacts, toStorageUrl } from '../bucket/media-facts.ts';
import { type BucketObject, findMediaObjects } from '../bucket/object-list.ts';
import type { MigrationSource, SourceItem } from '../source.ts';

export function openFolderSource(folder: string): MigrationSource {
  const root = resolve(folder);
  return { name: 'folder', label: root, listItems: () => listItems(root) };
}

async function* listItems(root: string): AsyncGenerator<SourceItem> {
  const files: BucketObject[] = [];
  for await (const file of filesBelow(root)) files.push(file);
  for (const file of findMediaObjects(files)) {
    const storageUrl = toStorageUrl('file', file.key);
    yield {
      ...toMediaFacts(file, { id: file.key, storageUrl }),
      openFile: async () => ({
        url: storageUrl,
        filename: toFilename(file),
        mimeType: file.mimeType ?? '',
      }),
      listCaptions: async () =>
        file.captions.map(({ language, key }) => ({
          language,
          label: undefined,
          kind: 'subtitles',
          read: () => readFile(key, 'utf8'),
        })),
    };
  }
}

/** Without symbolic links, which the service refuses, and without hidden files. */
async function* filesBelow(folder: string): AsyncGenerator<BucketObject> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: Error) => {
    throw usageError(`The folder ${folder} cannot be read: ${error.message}`);
  });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = resolve(folder, entry.name);
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) {
      const { size, mtime } = await lstat(path);
      yield { key: path, sizeBytes: size, modifiedAt: mtime.toISOString() };
    }
  }
}
