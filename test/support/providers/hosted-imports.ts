// Imports to simulated hosted providers: the service, a server with the file, and what the steps leave.
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { SimulatorsOptions } from '../../../simulators/simulators.ts';
import { ffmpegPath, makeClip } from '../clips/clips.ts';
import { type FileServer, startFileServer } from '../http/file-server.ts';
import { type HostedName, type Hosts, startHosts, timelineOf } from './hosted.ts';
import { expectNoFiles, requestImport } from '../uploads/imports.ts';
import { type AssetJson, readAsset } from '../media.ts';
import { eventually } from '../service.ts';

export type HostedImports = Hosts & {
  readonly server: FileServer;
  /** Of several hundred kB. */
  readonly clip: Buffer;
};

export async function startHostedImports(
  environment: Readonly<Record<string, string | undefined>> = {},
  options: SimulatorsOptions = {},
): Promise<HostedImports> {
  const server = await startFileServer();
  const hosts = await startHosts(
    { ffmpegPath: ffmpegPath(), ...options },
    { OUTBOUND_ALLOW_PRIVATE: 'import', ...environment },
  );
  const clip = await readFile(await makeClip({ seconds: 4, width: 640, height: 360 }));
  return {
    ...hosts,
    server,
    clip,
    stop: async () => {
      await hosts.stop();
      await server.stop();
    },
  };
}

/** What spares the first request to the source. */
const NAMED = { filename: 'clip.mp4', mime_type: 'video/mp4' };

export async function startHostedImport(
  { service }: Pick<HostedImports, 'service'>,
  provider: HostedName,
  json: object,
): Promise<AssetJson> {
  const answer = await requestImport(service, { ...NAMED, provider, ...json });
  expect(answer.body).toMatchObject({ success: true, data: { stream_status: 'pending_upload', provider } });
  return answer.body.data;
}

export const untilStatus = (
  { service }: Pick<HostedImports, 'service'>,
  id: string,
  ...statuses: string[]
): Promise<AssetJson> =>
  eventually(
    () => readAsset(service, 'ann', id),
    ({ stream_status }) => statuses.includes(stream_status),
    { withinMs: 60_000 },
  );

export const idsAt = ({ sims }: Pick<HostedImports, 'sims'>, provider: HostedName): string[] =>
  provider === 'cdnhost'
    ? sims.cdnhost.videos().map(({ guid }) => guid)
    : sims.edgehost.videos().map(({ uid }) => uid);

/** Ready at the provider, with one video there and no bytes here. */
export async function expectHostedImport(
  imports: HostedImports,
  provider: HostedName,
  { id, stream_status, failure }: AssetJson,
): Promise<void> {
  expect({ stream_status, failure }).toEqual({ stream_status: 'ready', failure: null });
  const asset = await readAsset(imports.service, 'ann', id);
  expect(asset).toMatchObject({
    provider,
    failure: null,
    size_bytes: imports.clip.length,
    uploaded_at: null,
    width: 640,
    height: 360,
  });
  expect(idsAt(imports, provider)).toEqual([asset['provider_video_id']]);
  await expectNoFiles(imports.service, id);
}

/** `bytes` and `total_bytes` of each progress event, oldest first. */
export const progressOf = async (
  { service }: HostedImports,
  id: string,
): Promise<Record<string, unknown>[]> =>
  (await timelineOf(service, id))
    .filter(({ type, details }) => type === 'asset.progress' && 'bytes' in details)
    .map(({ details, sentence }) => ({ ...details, sentence }));
