// The query of the address as it is: the router decodes it once too often, so that `%25` becomes `%`.
import { useSearch } from 'wouter';

/** Changes with the address. */
export function useAddressQuery(): string {
  useSearch();
  return location.search;
}
