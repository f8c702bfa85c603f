// Mux as a source: one environment, with the masters of its assets.
import type { Environment } from '../../context.ts';
import { CliError, EXIT } from '../../exit-codes.ts';
import {
  type MigrationSource,
  type SourceCaption,
  type SourceFile,
  type SourceItem,
  toLanguage,
} from '../source.ts';
import { createVendorClient, type VendorClient } from '../vendor-client.ts';
import { findPublicId, hasPicture, type MuxAsset, toMuxItem } from './mux-item.ts';
import { requireVariable } from './source-settings.ts';

type MuxEnvironment = {
  readonly client: VendorClient;
  readonly files: VendorClient;
  /** Of assets. */
  readonly url: string;
  readonly streamUrl: string;
};

const DEFAULT_API_URL = 'https://api.mux.com';
const DEFAULT_STREAM_URL = 'https://stream.mux.com';

export function openMuxSource(env: Environment, signal: AbortSignal): MigrationSource {
  const id = requireVariable(env, 'MUX_TOKEN_ID');
  const secret = requireVariable(env, 'MUX_TOKEN_SECRET');
  const shared = {
    credentialHint: 'Check MUX_TOKEN_ID and MUX_TOKEN_SECRET (Mux Video: read, write).',
    signal,
  };
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const mux: MuxEnvironment = {
    client: createVendorClient({ ...shared, name: 'Mux', headers: { authorization } }),
    files: createVendorClient({ ...shared, name: 'Mux' }),
    url: `${env['MUX_API_URL'] || DEFAULT_API_URL}/video/v1/assets`,
    streamUrl: env['MUX_STREAM_URL'] || DEFAULT_STREAM_URL,
  };
  return { name: 'mux', label: `token ${id}`, listItems: () => listItems(mux) };
}

type Page = { readonly data: readonly MuxAsset[]; readonly next_cursor?: string | null };

const PAGE_SIZE = 100;

async function* listItems(mux: MuxEnvironment): AsyncGenerator<SourceItem> {
  for (let cursor: string | null | undefined; ; ) {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(cursor && { cursor }) });
    const page = await mux.client.readJson<Page>({ url: `${mux.url}?${query}` });
    for (const asset of page.data)
      yield {
        ...toMuxItem(asset),
        openFile: () => openFile(mux, asset),
        listCaptions: async () => listCaptions(mux, asset),
      };
    cursor = page.next_cursor;
    if (!cursor) return;
  }
}

/** Temporary access to the master lasts 24 hours. The source prepares the file first. */
async function openFile({ client, url: assets }: MuxEnvironment, asset: MuxAsset): Promise<SourceFile> {
  const { id, meta } = asset;
  const url = `${assets}/${encodeURIComponent(id)}`;
  const read = async () => (await client.readJson<{ readonly data: MuxAsset }>({ url })).data;
  const known = await read();
  if (!known.master || known.master.status === 'errored')
    await client.readJson({
      method: 'PUT',
      url: `${url}/master-access`,
      json: { master_access: 'temporary' },
    });
  const master = await client.poll(async () => {
    const { master: seen } = await read();
    return seen?.status === 'ready' || seen?.status === 'errored' ? seen : undefined;
  });
  if (master.status !== 'ready' || !master.url)
    throw new CliError(`Mux prepared no master of the asset ${id}.`, EXIT.failed);
  const [mimeType, extension] = hasPicture(asset) ? ['video/mp4', 'mp4'] : ['audio/mp4', 'm4a'];
  return { url: master.url, mimeType, filename: `${meta?.title || id}.${extension}` };
}

/** Signed captions need a signing key of the environment, which the command does not take. */
function listCaptions({ files, streamUrl }: MuxEnvironment, asset: MuxAsset): SourceCaption[] {
  const playbackId = findPublicId(asset);
  if (playbackId === undefined) return [];
  return (asset.tracks ?? []).flatMap((track) => {
    const language = toLanguage(track.language_code ?? '');
    if (track.type !== 'text' || track.text_type !== 'subtitles' || track.status !== 'ready') return [];
    if (language === undefined) return [];
    const url = `${streamUrl}/${playbackId}/text/${track.id}.vtt`;
    const kind = track.closed_captions ? 'captions' : 'subtitles';
    return [{ language, label: track.name || undefined, kind, read: () => files.readText({ url }) }];
  });
}
