// Where somebody was in the library, for the way back from an asset.
import { queryOptions } from '@tanstack/react-query';

type LibraryPlace = { readonly query: string; readonly scrollTop: number };

const TOP: LibraryPlace = { query: '', scrollTop: 0 };

/** No request reads it. */
export const libraryPlaceQuery = queryOptions({
  queryKey: ['library-place'],
  queryFn: (): LibraryPlace => TOP,
  initialData: TOP,
  staleTime: Number.POSITIVE_INFINITY,
});
