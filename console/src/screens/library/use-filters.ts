// The filters of the library, kept in the address, so that people can share what they see.
import { useCallback, useMemo } from 'react';
import { useLocation } from 'wouter';
import type { AssetFilters } from '../../api/assets.ts';
import { useAddressQuery } from '../../parts/use-address-query.ts';

const NAMES = ['q', 'kind', 'stream_status', 'provider', 'owner', 'sort'] as const;

/** Of the query of an address; members that it does not have are absent. */
export function parseFilters(query: string): AssetFilters {
  const parameters = new URLSearchParams(query);
  const named = NAMES.flatMap((name) => {
    const value = parameters.get(name);
    return value ? [[name, value] as const] : [];
  });
  const tags = parameters.getAll('tag').filter((tag) => tag !== '');
  return {
    ...Object.fromEntries(named),
    ...(tags.length > 0 && { tag: tags }),
    ...(parameters.get('deleted') === 'true' && { deleted: true }),
  };
}

export function formatFilters(filters: AssetFilters): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined && value !== '');
  return new URLSearchParams(
    given.flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)])),
  ).toString();
}

type SetFilters = (filters: AssetFilters) => void;

export function useFilters(): readonly [AssetFilters, SetFilters] {
  const query = useAddressQuery();
  const [, navigate] = useLocation();
  const filters = useMemo(() => parseFilters(query), [query]);
  const setFilters = useCallback<SetFilters>(
    (next) => {
      const text = formatFilters(next);
      navigate(text === '' ? '/library' : `/library?${text}`, { replace: true });
    },
    [navigate],
  );
  return [filters, setFilters];
}
