// cdnhost (the API of Bunny Stream) as a source: one library, with files from its pull zone.
import { createHmac } from 'node:crypto';
import type { Environment } from '../../context.ts';
import { CliError, EXIT } from '../../exit-codes.ts';
import {
  FILE_URL_TTL_S,
  type MigrationSource,
  type SourceCaption,
  type SourceItem,
  toLanguage,
} from '../source.ts';
import { createVendorClient, type VendorClient } from '../vendor-client.ts';
import { type CdnhostVideo, detectMimeType, findHeights, toCdnhostItem, toFilename } from './cdnhost-item.ts';
import { requireVariable, toOrigin } from './source-settings.ts';

type Library = {
  readonly client: VendorClient;
  readonly url: string;
  /** Origin of the pull zone. */
  readonly origin: string;
  readonly tokenKey: string | undefined;
};

const DEFAULT_API_URL = 'https://video.bunnycdn.com';

export function openCdnhostSource(env: Environment, signal: AbortSignal): MigrationSource {
  const id = requireVariable(env, 'CDNHOST_STREAM_LIBRARY_ID');
  const key = env['CDNHOST_STREAM_API_KEY'] || requireVariable(env, 'CDNHOST_STREAM_READ_ONLY_API_KEY');
  const library: Library = {
    client: createVendorClient({
      name: 'cdnhost',
      headers: { AccessKey: key, accept: 'application/json' },
      credentialHint: 'Check CDNHOST_STREAM_LIBRARY_ID and CDNHOST_STREAM_API_KEY.',
      signal,
    }),
    url: `${env['CDNHOST_API_URL'] || DEFAULT_API_URL}/library/${encodeURIComponent(id)}`,
    origin: toOrigin(requireVariable(env, 'CDNHOST_STREAM_HOSTNAME')),
    tokenKey: env['CDNHOST_TOKEN_AUTH_KEY'] || undefined,
  };
  // The key of the API must not go to the pull zone, whose URLs are signed.
  const files = createVendorClient({
    name: 'The pull zone of cdnhost',
    credentialHint: 'Check CDNHOST_STREAM_HOSTNAME, CDNHOST_TOKEN_AUTH_KEY and the access rules of the zone.',
    signal,
  });
  return { name: 'cdnhost', label: `library ${id}`, listItems: () => listItems(library, files) };
}

async function* listItems(library: Library, files: VendorClient): AsyncGenerator<SourceItem> {
  const collections = new Map<string, string>();
  for await (const { guid, name } of listPages<{ guid: string; name: string }>(library, '/collections'))
    collections.set(guid, name);
  const context = { collections, isPrivate: library.tokenKey !== undefined };
  for await (const video of listPages<CdnhostVideo>(library, '/videos'))
    yield {
      ...toCdnhostItem(video, context),
      openFile: () => openFile(library, files, video),
      listCaptions: async () => listCaptions(library, files, video),
    };
}

type Page<T> = { readonly totalItems: number; readonly items: readonly T[] };

const PAGE_SIZE = 100;

/** Newest first. A video that is added meanwhile moves others to the next page, so that they come twice. */
async function* listPages<T extends { readonly guid: string }>(
  { client, url }: Library,
  path: string,
): AsyncGenerator<T> {
  const seen = new Set<string>();
  for (let page = 1; ; page += 1) {
    const query = `page=${page}&itemsPerPage=${PAGE_SIZE}&orderBy=date`;
    const { items, totalItems } = await client.readJson<Page<T>>({ url: `${url}${path}?${query}` });
    for (const item of items) {
      if (!seen.has(item.guid)) yield item;
      seen.add(item.guid);
    }
    if (items.length === 0 || page * PAGE_SIZE >= totalItems) return;
  }
}

const HEAD_BYTES = 4096;

/** The original, else the largest MP4 file that the pull zone has. */
async function openFile(library: Library, files: VendorClient, video: CdnhostVideo) {
  const names = [
    ...(video.hasOriginal ? ['original'] : []),
    ...findHeights(video).map((height) => `play_${height}p.mp4`),
  ];
  for (const name of names) {
    const url = toFileUrl(library, video.guid, name);
    const head = await files.findHead(url, HEAD_BYTES);
    if (!head) continue;
    const mimeType = detectMimeType(head) ?? 'video/mp4';
    return { url, mimeType, filename: toFilename(video.title ?? null, mimeType) };
  }
  throw new CliError(`The pull zone has no file of the video ${video.guid}.`, EXIT.failed);
}

const listCaptions = (library: Library, files: VendorClient, video: CdnhostVideo): SourceCaption[] =>
  (video.captions ?? []).flatMap(({ srclang = '', label }) => {
    const language = toLanguage(srclang);
    if (language === undefined) return [];
    const url = toFileUrl(library, video.guid, `captions/${srclang}.vtt`);
    return [{ language, label: label || undefined, kind: 'subtitles', read: () => files.readText({ url }) }];
  });

/** The token of the folder is in the path, as the service signs its own URLs. */
function toFileUrl({ origin, tokenKey }: Library, guid: string, name: string): string {
  const folder = `/${guid}/`;
  if (tokenKey === undefined) return `${origin}${folder}${name}`;
  const expires = Math.floor(Date.now() / 1000) + FILE_URL_TTL_S;
  const token = createHmac('sha256', tokenKey)
    .update(`${folder}${expires}token_path=${folder}`)
    .digest('base64url');
  const signed = `bcdn_token=HS256-${token}&token_path=${encodeURIComponent(folder)}&expires=${expires}`;
  return `${origin}/${signed}${folder}${name}`;
}
