// `npm run seed -- --demo`: uploads a small library to the running service, as an application would.
import { MEDIA_TYPES } from '@mediary/media-rules/media-type';
import type { Engine } from '../adapters.ts';
import { createDemoFile } from './demo-files.ts';
import { DEMO_ASSETS, DEMO_TAG, type DemoAsset } from './demo-library.ts';

type DemoCommand = {
  /** Of the running service. */
  readonly url: string;
  readonly serviceKey: string;
  readonly engine: Engine;
  readonly print: (text: string) => void;
};

/** A second run adds what is missing. Returns how many assets it created. */
export async function seedDemo(command: DemoCommand): Promise<number> {
  const { engine, print } = command;
  if ('missing' in engine) throw new Error(`The demo library needs ffmpeg: ${engine.missing}`);
  const owners = [...new Set(DEMO_ASSETS.map(({ owner }) => owner))];
  const existing = new Set((await Promise.all(owners.map((owner) => listDemo(command, owner)))).flat());
  const missing = DEMO_ASSETS.filter((asset) => !existing.has(nameOf(asset)));
  for (const [done, asset] of missing.entries()) {
    const bytes = asset.isPending
      ? undefined
      : await createDemoFile(engine.path, asset, DEMO_ASSETS.indexOf(asset));
    await createAsset(command, asset, bytes);
    print(`${done + 1} of ${missing.length}: ${asset.title}\n`);
  }
  return missing.length;
}

const nameOf = ({ owner, filename }: Pick<DemoAsset, 'owner' | 'filename'>): string => `${owner}/${filename}`;

type Listed = { readonly items: readonly { readonly filename: string }[] };

/** Also those in the trash. */
async function listDemo(command: DemoCommand, owner: string): Promise<string[]> {
  const list = (rest: string): Promise<Listed> =>
    send(command, `GET /media?owner_user_id=${owner}&tag=${DEMO_TAG}&limit=200${rest}`);
  const pages = await Promise.all([list(''), list('&deleted=true')]);
  return pages.flatMap(({ items }) => items.map(({ filename }) => nameOf({ owner, filename })));
}

const mimeTypeOf = ({ filename }: DemoAsset): string =>
  MEDIA_TYPES.find(({ extension }) => filename.endsWith(`.${extension}`))?.mime ?? '';

async function createAsset(command: DemoCommand, asset: DemoAsset, bytes: Buffer | undefined): Promise<void> {
  const { owner, filename, title, tags, visibility, kind } = asset;
  const mimeType = mimeTypeOf(asset);
  const { asset_id: id, upload_url: url } = await send<Opened>(command, 'POST /media/upload-url', {
    json: {
      ...{ owner_user_id: owner, filename, title, tags, visibility },
      ...{ content_type: kind, mime_type: mimeType, provider: kind === 'video' ? 'onprem' : undefined },
      metadata: { source: 'npm run seed -- --demo' },
    },
  });
  if (!bytes) return;
  const stored = await fetch(url, { method: 'PUT', headers: { 'content-type': mimeType }, body: bytes });
  if (!stored.ok) throw new Error(`PUT ${title}: status ${stored.status}`);
  const completion = send(command, `POST /media/${id}/complete`, { json: { owner_user_id: owner } });
  // The service may refuse a broken file at once, or later.
  await (isBroken(asset) ? completion.catch(() => {}) : completion);
  for (const language of asset.captions)
    await send(command, `PUT /media/${id}/captions/${language}?owner_user_id=${owner}`, {
      text: CAPTIONS[language] ?? '',
    });
  if (asset.isInTrash) await send(command, `DELETE /media/${id}?trash=true&owner_user_id=${owner}`);
}

const isBroken = ({ recipe }: DemoAsset): boolean => recipe.startsWith('broken') || recipe === 'sound alone';

const renderCaptions = (first: string, second: string): string =>
  `WEBVTT\n\n00:00.500 --> 00:02.500\n${first}\n\n00:03.000 --> 00:05.000\n${second}\n`;

const CAPTIONS: Readonly<Record<string, string>> = {
  en: renderCaptions('We start early in the morning.', 'Then the sun comes up.'),
  de: renderCaptions('Wir beginnen früh am Morgen.', 'Dann geht die Sonne auf.'),
};

type Opened = { readonly asset_id: string; readonly upload_url: string };
type RequestBody = { readonly json?: object; readonly text?: string };

/** Returns `data`; throws with the message of the service. */
async function send<T = unknown>(
  { url, serviceKey }: DemoCommand,
  methodAndPath: string,
  { json, text }: RequestBody = {},
): Promise<T> {
  const [method = 'GET', path = ''] = methodAndPath.split(' ');
  const type = json ? 'application/json' : text === undefined ? undefined : 'text/vtt';
  const body = json ? JSON.stringify(json) : text;
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { 'x-service-key': serviceKey, ...(type && { 'content-type': type }) },
    ...(body !== undefined && { body }),
  }).catch((cause: unknown) => {
    throw new Error(`No service answers at ${url}. Start it with "npm start", or name it with --url.`, {
      cause,
    });
  });
  const { success, message, data } = (await response.json()) as Envelope<T>;
  if (!success) throw new Error(`${methodAndPath}: ${message}`);
  return data;
}

type Envelope<T> = { readonly success: boolean; readonly message: string; readonly data: T };
