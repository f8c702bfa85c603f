// Assets that are uploaded and completed, and what the service recorded about their processing.
import sharp from 'sharp';
import { expect } from 'vitest';
import { timelineOf } from '../providers/hosted.ts';
import { complete, openUpload, putBytes, readAsset, settled } from '../media.ts';
import type { TestService } from '../service.ts';
import { eventsOf, rows } from '../service/traces.ts';

export const makeSmallPng = (): Promise<Buffer> =>
  sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
    .png()
    .toBuffer();

/** `service` is read at each call, because tests start it in a hook. */
export function processedAssetsOf(service: () => TestService) {
  async function uploaded(bytes: Buffer, fields: object = {}): Promise<string> {
    const started = await openUpload(service(), 'ann', fields);
    expect((await putBytes(started, bytes)).status).toBe(200);
    return started.asset_id;
  }

  async function completed(bytes: Buffer, fields: object = {}): Promise<string> {
    const id = await uploaded(bytes, fields);
    expect((await complete(service(), 'ann', id)).status).toBe(200);
    return id;
  }

  const reasonsOf = async (id: string) =>
    (await timelineOf(service(), id))
      .filter(({ type }) => type === 'asset.checked')
      .map(({ details }) => details['reason']);
  const statusOf = async (id: string) => (await readAsset(service(), 'ann', id)).stream_status;
  const jobsOf = (id: string) =>
    rows(
      service().dataDir,
      `select name from pgboss.job where data->>'assetId' = $1 and name in ('encode-asset', 'process-image')`,
      [id],
    );

  async function expectReadyOnce(id: string): Promise<void> {
    expect(await settled(service(), 'ann', id)).toMatchObject({ stream_status: 'ready', failure: null });
    expect((await eventsOf(service().dataDir, id)).filter((type) => type === 'asset.ready')).toHaveLength(1);
  }

  return { uploaded, completed, reasonsOf, statusOf, jobsOf, expectReadyOnce };
}
