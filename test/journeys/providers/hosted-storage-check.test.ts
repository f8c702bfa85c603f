// A storage check compares the assets with the videos of hosted providers, in both directions.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import {
  askUpload,
  HOSTED,
  type HostedName,
  type Hosts,
  sendBytes,
  startHosts,
} from '../../support/providers/hosted.ts';
import { type AssetJson, complete, readAsset } from '../../support/media.ts';
import { asOperator, call, eventually } from '../../support/service.ts';
import { readStorageCheck, runStorageCheck } from '../../support/service/storage-check.ts';

let hosts: Hosts;
beforeAll(async () => {
  hosts = await startHosts({}, { LOG_LEVEL: 'error' });
});
afterAll(() => hosts?.stop());

async function film(provider: HostedName): Promise<AssetJson> {
  const bytes = Buffer.alloc(5000, 1);
  const { upload, asset_id: id } = (await askUpload(hosts.service, provider)).body.data;
  await sendBytes(upload as Parameters<typeof sendBytes>[0], bytes);
  await complete(hosts.service, 'ann', id);
  return eventually(
    () => readAsset(hosts.service, 'ann', id),
    ({ stream_status: status }) => status === 'ready',
  );
}

/** Other findings are of videos that the simulators have forgotten. */
async function checkOf(provider: HostedName, request: Parameters<typeof runStorageCheck>[1] = {}) {
  const { check, findings } = await runStorageCheck(hosts.service, request);
  return { check, findings: findings.filter((finding) => finding.provider === provider) };
}

const videoIds = (provider: HostedName) => JSON.stringify(hosts.sims[provider].videos());

describe.each(HOSTED)('%s', (provider) => {
  test('lost videos fail their assets, and videos that no asset needs are deleted', async () => {
    const [kept, lost, relinked, unknown] = [
      await film(provider),
      await film(provider),
      await film(provider),
      await film(provider),
    ];
    const { db, providers } = hosts.service.adapters;
    await providers.get(provider)?.api?.remove(String(lost['provider_video_id']));
    await db.one(sql(`test: a lost link to ${provider}`)`
      update assets set provider_video_id = null where id = ${relinked.id}`);
    await db.one(sql(`test: an unknown asset of ${provider}`)`delete from assets where id = ${unknown.id}`);
    await hosts.reconcileIn(90);

    const byAsset = {
      [lost.id]: 'provider_video_missing fail_provider_video',
      [relinked.id]: 'unlinked_video delete_video',
      [unknown.id]: 'unlinked_video none',
    };
    for (const repair of [false, true]) {
      const { findings, check } = await checkOf(provider, { repair });
      const found = findings.map((finding) => [finding.asset_id, `${finding.kind} ${finding.repair}`]);
      expect(Object.fromEntries(found)).toEqual(byAsset);
      expect([check.skipped_providers, findings.filter(({ repair_error: error }) => error)]).toEqual([
        [],
        [],
      ]);
    }
    expect(await readAsset(hosts.service, 'ann', lost.id)).toMatchObject({
      stream_status: 'failed',
      failure: { code: 'provider_video_missing' },
    });
    expect(videoIds(provider)).toContain(String(unknown['provider_video_id']));
    await runStorageCheck(hosts.service, { repair: true, delete_unknown: true, orphan_age_s: 0 });
    for (const { provider_video_id: id } of [relinked, unknown] as Record<string, unknown>[])
      expect(videoIds(provider)).not.toContain(String(id));
    expect(videoIds(provider)).toContain(String(kept['provider_video_id']));
    expect((await checkOf(provider)).findings).toEqual([]);
  });

  test('a check that continues after a crash records and counts each video once', async () => {
    const lost = await film(provider);
    const { db, jobs, providers } = hosts.service.adapters;
    await providers.get(provider)?.api?.remove(String(lost['provider_video_id']));
    const { check, findings } = await checkOf(provider);
    expect(findings).toMatchObject([{ kind: 'provider_video_missing', asset_id: lost.id }]);
    await db.one(sql('test: a crash in the last stage')`
      update storage_checks set status = 'running', finished_at = null where id = ${check.id}`);
    await db.transaction((tx) => jobs.send(tx, 'check-storage', { checkId: check.id }));
    const again = await eventually(
      () => readStorageCheck(hosts.service, check.id),
      ({ check: { status } }) => status === 'done',
    );
    expect(again.findings.filter((finding) => finding.provider === provider)).toEqual(findings);
    const { finished_at, updated_at } = again.check;
    expect(again.check).toEqual({ ...check, finished_at, updated_at });
    await runStorageCheck(hosts.service, { repair: true });
  });

  test('a provider that does not answer is skipped, and the check ends', async () => {
    hosts.sims[provider].setFault({ on: 'api', do: 'status', status: 500 });
    const { check } = await runStorageCheck(hosts.service);
    expect(check).toMatchObject({ status: 'done', skipped_providers: [provider] });
    const { body } = await call<{ items: { name: string; last_failure: string | null }[] }>(
      hosts.service,
      'GET /admin/providers',
      { headers: asOperator },
    );
    expect(body.data.items.find(({ name }) => name === provider)?.last_failure).toBe('provider_error');
    hosts.sims.reset();
  });
});
