// Owners: what they store, their limits, archives and erasure.
import type { OwnerImport } from '@mediary/contract/schemas/admin/owner-imports';
import type { Erasure } from '@mediary/contract/schemas/admin/owners';
import type { Owner } from '@mediary/contract/schemas/admin/owner-totals';
import type { OwnerLimits, OwnerLimitsRequest } from '@mediary/contract/schemas/admin/usage';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import {
  byCursor,
  changeAdmin,
  type Listing,
  OPERATORS,
  readAdmin,
  saveAdminFile,
  sendAdminFile,
} from './operators.ts';

export type OwnerFilters = { readonly search: string | undefined; readonly sort: 'bytes' | 'assets' };

export const ownersQuery = ({ search, sort }: OwnerFilters) =>
  infiniteQueryOptions({
    queryKey: [OPERATORS, 'owners', search, sort],
    queryFn: readAdmin<Listing<Owner>>('/owners', { search, sort, limit: 50 }),
    ...byCursor,
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });

const toPath = (owner: string): string => `/owners/${encodeURIComponent(owner)}`;

export const ownerQuery = (owner: string) =>
  queryOptions({
    queryKey: [OPERATORS, 'owner', owner],
    queryFn: readAdmin<Owner>(toPath(owner)),
    refetchInterval: 10_000,
  });

export const limitsQuery = (owner: string) =>
  queryOptions({
    queryKey: [OPERATORS, 'limits', owner],
    queryFn: readAdmin<OwnerLimits>(`${toPath(owner)}/limits`),
  });

export const setLimits = (owner: string, overrides: OwnerLimitsRequest) =>
  changeAdmin<OwnerLimits>('PUT', `${toPath(owner)}/limits`, overrides);

type ErasureResult = { readonly erasure: Erasure };

export const eraseOwner = async (owner: string): Promise<Erasure> =>
  (await changeAdmin<ErasureResult>('DELETE', toPath(owner))).erasure;

export const erasureQuery = (owner: string, id: string) =>
  queryOptions({
    queryKey: [OPERATORS, 'erasure', owner, id],
    queryFn: async (context) =>
      (await readAdmin<ErasureResult>(`${toPath(owner)}/erasures/${encodeURIComponent(id)}`)(context))
        .erasure,
    refetchInterval: ({ state }) => (state.data?.status === 'completed' ? false : 1500),
  });

export const saveExport = (owner: string): Promise<void> =>
  saveAdminFile(`${toPath(owner)}/export`, `${owner}.tar`);

export const importOwner = (owner: string, archive: Blob | null): Promise<OwnerImport> =>
  sendAdminFile<OwnerImport>(`${toPath(owner)}/import`, archive ?? new Blob());

export const saveReceipt = (owner: string, id: string): Promise<void> =>
  saveAdminFile(`${toPath(owner)}/erasures/${encodeURIComponent(id)}/receipt`, `erasure-${id}.ndjson`);
