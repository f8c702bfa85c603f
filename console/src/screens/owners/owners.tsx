// Owners: the list, or the page of the one that the address names.
import { useAddressQuery } from '../../parts/use-address-query.ts';
import { OwnerList } from './owner-list.tsx';
import { OwnerScreen } from './owner-screen.tsx';

/** An id may contain any character, so it is in the query of the address. */
export function Owners() {
  const parameters = new URLSearchParams(useAddressQuery());
  const owner = parameters.get('owner');
  if (owner !== null && owner !== '')
    return <OwnerScreen key={owner} owner={owner} erasureId={parameters.get('erasure')} />;
  return <OwnerList />;
}
