// edgehost (the API of Cloudflare Stream) as a source: one account, with the MP4 downloads of its videos.
import type { Environment } from '../../context.ts';
import { CliError, EXIT } from '../../exit-codes.ts';
import {
  FILE_URL_TTL_S,
  type MigrationSource,
  type SourceCaption,
  type SourceItem,
  toLanguage,
} from '../source.ts';
import { createVendorClient, type VendorClient, type VendorRequest } from '../vendor-client.ts';
import { type EdgehostVideo, toEdgehostFilename, toEdgehostItem } from './edgehost-item.ts';
import { requireVariable } from './source-settings.ts';

type Account = {
  readonly client: VendorClient;
  readonly url: string;
  /** Videos of one request. */
  readonly pageSize: number;
};

const DEFAULT_API_URL = 'https://api.cloudflare.com/client/v4';
const PAGE_SIZE = 1000;

export function openEdgehostSource(
  env: Environment,
  signal: AbortSignal,
  pageSize = PAGE_SIZE,
): MigrationSource {
  const id = requireVariable(env, 'EDGEHOST_ACCOUNT_ID');
  const token = requireVariable(env, 'EDGEHOST_STREAM_API_TOKEN');
  const client = createVendorClient({
    name: 'edgehost',
    headers: { authorization: `Bearer ${token}` },
    credentialHint:
      'Check EDGEHOST_ACCOUNT_ID, and that EDGEHOST_STREAM_API_TOKEN has the permission to edit Stream.',
    signal,
  });
  const url = `${env['EDGEHOST_API_URL'] || DEFAULT_API_URL}/accounts/${encodeURIComponent(id)}/stream`;
  const account: Account = { client, url, pageSize };
  return { name: 'edgehost', label: `account ${id}`, listItems: () => listItems(account) };
}

async function readResult<T>({ client }: Account, request: VendorRequest): Promise<T> {
  return (await client.readJson<{ readonly result: T }>(request)).result;
}

/** Oldest first. The source has no cursor: the next page starts at the time of the last video. */
async function* listItems(account: Account): AsyncGenerator<SourceItem> {
  const seen = new Set<string>();
  for (let after: string | undefined; ; ) {
    const query = new URLSearchParams({
      asc: 'true',
      limit: String(account.pageSize),
      ...(after && { after }),
    });
    const videos = await readResult<readonly EdgehostVideo[]>(account, { url: `${account.url}?${query}` });
    const added = videos.filter(({ uid }) => !seen.has(uid));
    for (const video of added) {
      seen.add(video.uid);
      yield toItem(account, video);
    }
    const last = videos.at(-1);
    if (!last || videos.length < account.pageSize) return;
    if (added.length === 0)
      throw new CliError(`edgehost lists more than ${account.pageSize} videos of one moment.`, EXIT.failed);
    // One millisecond before: the list may leave out videos of the same moment.
    after = new Date(Date.parse(last.created) - 1).toISOString();
  }
}

const toItem = (account: Account, video: EdgehostVideo): SourceItem => ({
  ...toEdgehostItem(video),
  openFile: () => openFile(account, video),
  listCaptions: () => listCaptions(account, video),
});

type Download = { readonly status?: string; readonly url?: string };
type Downloads = { readonly default?: Download };

/** The source has no originals. It encodes the MP4 file of a video when it is first asked for. */
async function openFile(account: Account, video: EdgehostVideo) {
  const url = `${account.url}/${video.uid}/downloads`;
  let { default: download } = await readResult<Downloads>(account, { url });
  if (!download) ({ default: download } = await readResult<Downloads>(account, { method: 'POST', url }));
  const ready = await account.client.poll(async () => {
    if (download?.status === 'inprogress')
      ({ default: download } = await readResult<Downloads>(account, { url }));
    return download?.status === 'inprogress' ? undefined : (download ?? {});
  });
  if (ready.status !== 'ready' || ready.url === undefined)
    throw new CliError(`edgehost made no MP4 file of the video ${video.uid}.`, EXIT.failed);
  return {
    url: video.requireSignedURLs ? await signUrl(account, video, ready.url) : ready.url,
    mimeType: 'video/mp4',
    filename: toEdgehostFilename(video),
  };
}

/** A token takes the place of the id. */
async function signUrl(account: Account, { uid }: EdgehostVideo, url: string): Promise<string> {
  const { token } = await readResult<{ readonly token: string }>(account, {
    method: 'POST',
    url: `${account.url}/${uid}/token`,
    json: { downloadable: true, exp: Math.floor(Date.now() / 1000) + FILE_URL_TTL_S },
  });
  return url.replace(uid, token);
}

type EdgehostCaption = { readonly language?: string; readonly label?: string; readonly status?: string };

async function listCaptions(account: Account, { uid }: EdgehostVideo): Promise<SourceCaption[]> {
  const url = `${account.url}/${uid}/captions`;
  const captions = await readResult<readonly EdgehostCaption[]>(account, { url });
  return captions.flatMap(({ language: tag = '', label, status = 'ready' }) => {
    const language = toLanguage(tag);
    if (language === undefined || status !== 'ready') return [];
    const read = () => account.client.readText({ url: `${url}/${tag}/vtt`, headers: { accept: 'text/vtt' } });
    return [{ language, label: label || undefined, kind: 'subtitles', read }];
  });
}
