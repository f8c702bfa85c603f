// Sends random commands to a service and says what came back in the words of the model.
import { createHash, randomUUID } from 'node:crypto';
import {
  assetAt,
  type Expected,
  type ModelAsset,
  namedAttempt,
  REFUSALS,
  videoIdOf,
  type World,
} from './asset-model.ts';
import type { By, Create, IfMatch, Report, Step } from './asset-steps.ts';
import { type AssetJson, IMAGE, VIDEO } from '../media.ts';
import { type Answer, asService, asUser, call } from '../service.ts';
import { deliver, signatureOf } from '../providers/webhooks.ts';

export const LIBRARY = 77;
/** `ids` and `uploads` are those of the world's assets, in their order. */
export type Driver = {
  readonly url: string;
  readonly owner: string;
  readonly world: World;
  readonly ids: string[];
  readonly uploads: (string | null)[];
  /** A small film and a small picture. */
  readonly originals: { readonly video: Uint8Array; readonly image: Uint8Array };
};

/** To be called before the world is moved by the same step. */
export async function send(driver: Driver, step: Step): Promise<Expected | undefined> {
  if (step.do === 'create') return create(driver, step);
  if (step.do === 'report') return report(driver, step);
  if (step.do === 'put') return put(driver, step);
  const asset = assetAt(driver.world, step.at);
  const { method, path, shown } = WAYS[step.do];
  const query = step.do === 'remove' ? `?purge=${step.purge}` : '';
  const headers = {
    ...(step.by === 'service'
      ? asService
      : asUser(step.by === 'owner' ? driver.owner : `not ${driver.owner}`)),
    ...('ifMatch' in step && ifMatchOf(step.ifMatch, asset)),
  };
  const json = { ...namedBy(step.by, driver), ...(step.do === 'edit' && { title: step.title }) };
  const answer = await call(driver, `${method} /media/${idAt(driver, step.at)}${path}${query}`, {
    headers,
    ...(method !== 'GET' && { json }),
  });
  if (step.do === 'retry' && answer.body.data?.['upload_url'])
    driver.uploads[Math.min(step.at, driver.uploads.length - 1)] = answer.body.data['upload_url'] as string;
  return seen(answer, shown);
}

const wholeAsset = (data: Record<string, unknown>) => viewOf(data as AssetJson);
const WAYS = {
  get: { method: 'GET', path: '', shown: wholeAsset },
  playback: {
    method: 'GET',
    path: '/playback',
    shown: ({ stream_status, hls }: Record<string, unknown>) => ({ stream_status, hls }),
  },
  download: { method: 'GET', path: '/download-url', shown: () => ({}) },
  complete: { method: 'POST', path: '/complete', shown: wholeAsset },
  retry: {
    method: 'POST',
    path: '/retry?expand=asset',
    shown: (data: Record<string, unknown>) => ({
      ...wholeAsset(data['asset'] as Record<string, unknown>),
      offersUpload: data['upload_url'] !== null,
    }),
  },
  restore: { method: 'POST', path: '/restore', shown: wholeAsset },
  edit: { method: 'PATCH', path: '', shown: wholeAsset },
  remove: { method: 'DELETE', path: '', shown: ({ deleted }: Record<string, unknown>) => ({ deleted }) },
} as const;

const idAt = ({ ids }: Driver, at: number): string => ids[Math.min(at, ids.length - 1)] ?? randomUUID();
const namedBy = (by: By, { owner }: Driver) => (by === 'service' ? { owner_user_id: owner } : {});

function ifMatchOf(ifMatch: IfMatch, asset: ModelAsset | undefined): Record<string, string> {
  const version = asset?.version ?? 1;
  const values = {
    nothing: undefined,
    current: `"${version}"`,
    any: '*',
    older: `"${version - 1}"`,
    newer: `"0", "${version + 1}"`,
  };
  const value = values[ifMatch];
  return value === undefined ? {} : { 'if-match': value };
}

function seen({ status, body }: Answer, shown: (data: Record<string, unknown>) => object): Expected {
  if (status === 200) return { status, shown: shown(body.data) };
  const reason = body.error.details?.['reason'];
  return { status, error: body.error.error_code, ...(typeof reason === 'string' && { reason }) };
}

function viewOf({
  stream_status,
  version,
  progress,
  title,
  playback,
  warnings,
  failure,
  deleted_at,
}: AssetJson): object {
  const codes = (warnings as { code: string }[]).map(({ code }) => code).sort();
  const why = failure && (REFUSALS.includes(failure.code) ? failure.code : 'reported');
  return {
    stream_status,
    version,
    progress,
    title,
    hls: (playback as { hls: string | null } | null)?.hls ?? null,
    warnings: codes,
    failure: why,
    inTrash: deleted_at !== null,
  };
}

async function create(driver: Driver, { kind, by, title, announces, video }: Create): Promise<Expected> {
  const type = kind === 'image' ? IMAGE : { ...VIDEO, provider: kind };
  const original = kind === 'image' ? driver.originals.image : driver.originals.video;
  const announced = {
    ...(announces !== 'nothing' && { size_bytes: original.length }),
    ...(announces === 'digest' && { checksum_sha256: createHash('sha256').update(original).digest('hex') }),
  };
  const link =
    kind === 'cdnhost' || kind === 'edgehost' ? { provider_video_id: videoIdOf(driver.world, video) } : {};
  const json = { ...type, ...announced, ...link, title, ...namedBy(by, driver) };
  const answer = await call<Record<string, unknown>>(driver, 'POST /media/upload-url?expand=asset', {
    headers: by === 'service' ? asService : asUser(driver.owner),
    json,
  });
  const { asset_id: id, asset: made, upload_url: url } = answer.status === 200 ? answer.body.data : {};
  if (id) {
    driver.ids.push(id as string);
    driver.uploads.push(url as string | null);
  }
  return seen(answer, () => ({ ...viewOf(made as AssetJson), offersUpload: url !== null }));
}

async function put(
  { world, uploads, originals }: Driver,
  { at, bytes, isOtherType }: Step & { readonly do: 'put' },
): Promise<Expected | undefined> {
  const url = uploads[Math.min(at, uploads.length - 1)];
  if (!url) return undefined;
  const isImage = assetAt(world, at)?.kind === 'image';
  const right = isImage ? originals.image : originals.video;
  const sent = {
    right,
    short: right.subarray(0, right.length >> 1),
    wrong: Buffer.alloc(right.length, 'no media'),
  }[bytes];
  const type = isImage ? 'image/png' : 'video/mp4';
  return seen(
    await call({ url: '' }, `PUT ${url}`, {
      headers: { 'content-type': isOtherType ? 'text/html' : type },
      body: sent,
    }),
    wholeAsset,
  );
}

async function report(driver: Driver, step: Report): Promise<Expected> {
  const body = JSON.stringify(bodyOf(driver, step));
  const { status, message, data } = await deliver(driver, step.provider, {
    body,
    headers: signatureOf(step.provider, step.isSigned ? body : `${body} `),
  });
  return status === 200
    ? { status, shown: { ...(data as object), message } }
    : { status, error: status === 401 ? 'UNAUTHORIZED' : 'another' };
}

function bodyOf(
  driver: Driver,
  { provider, at, says, ahead, progress, hls, word, isOfOtherLibrary }: Report,
): object {
  const videoId = videoIdOf(driver.world, at);
  if (provider === 'cdnhost')
    return { VideoLibraryId: LIBRARY + (isOfOtherLibrary ? 1 : 0), VideoGuid: videoId, Status: word };
  if (provider === 'edgehost')
    return { uid: videoId, status: { state: word }, ...(hls?.includes('*') ? {} : { playback: { hls } }) };
  const named = ahead === undefined ? {} : { attempt: namedAttempt(assetAt(driver.world, at), ahead) };
  return {
    asset_id: idAt(driver, at),
    status: says === 'nothing' ? 'paused' : says,
    ...named,
    progress,
    ...(hls && { playback: { hls } }),
  };
}
