// Named service keys.
import type {
  CreateServiceKeyRequest,
  NewServiceKey,
  ServiceKey,
} from '@mediary/contract/schemas/admin/service-keys';
import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import { mediary } from './mediary.ts';
import { byCursor, changeAdmin, type Listing, OPERATORS, readAdmin } from './operators.ts';

export const serviceKeysQuery = (includeRevoked: boolean) =>
  infiniteQueryOptions({
    queryKey: [OPERATORS, 'service-keys', includeRevoked],
    queryFn: readAdmin<Listing<ServiceKey>>('/service-keys', { include_revoked: includeRevoked }),
    ...byCursor,
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });

/** A repetition would find the name taken, and the key would be lost. */
export const createServiceKey = (request: CreateServiceKeyRequest): Promise<NewServiceKey> =>
  mediary.request({ method: 'POST', path: '/admin/service-keys', body: request, isRepeatable: false });

export const revokeServiceKey = (id: string) => changeAdmin<ServiceKey>('DELETE', `/service-keys/${id}`);
