// Usage of owners as the API returns it, and as a recount of the database finds it.
import { asUser, call } from '../service.ts';
import { rows } from '../service/traces.ts';

type Measured = { readonly used: number; readonly limit: number | null };
type UsageJson = {
  readonly owner_user_id: string;
  readonly bytes: Measured;
  readonly assets: Measured;
  readonly pending: Measured;
};

const readUsage = async (service: { readonly url: string }, owner: string): Promise<UsageJson> =>
  (await call<UsageJson>(service, 'GET /usage', { headers: asUser(owner) })).body.data;

/** `[bytes, assets, pending]`. */
export async function usedBy(service: { readonly url: string }, owner: string): Promise<number[]> {
  const { bytes, assets, pending } = await readUsage(service, owner);
  return [bytes.used, assets.used, pending.used];
}

/** Owners whose counters are not what a recount of their assets finds. */
export const usageDrift = (dataDir: string): Promise<Record<string, unknown>[]> =>
  rows(
    dataDir,
    `select owner_user_id, usage.assets, usage.bytes, usage.pending,
            counted.assets as counted_assets, counted.bytes as counted_bytes,
            counted.pending as counted_pending
       from owner_usage as usage, lateral recount_owner_usage(owner_user_id) as counted
      where (usage.assets, usage.bytes, usage.pending)
            is distinct from (counted.assets, counted.bytes, counted.pending)`,
  );
