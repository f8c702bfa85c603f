// The orders of lists of assets (contract B3).
import type { SortOrder } from '@mediary/contract/enums';

/** Orders that no index has: they read every asset that passes the filters. */
type SortKey = 'updated_at' | 'title' | 'size_bytes' | 'duration_ms';

type Order<By> = { readonly by: By; readonly isDescending: boolean };
export type SortedOrder = Order<SortKey>;
export type AssetOrder = SortedOrder | Order<'created_at'>;

export const toOrder = (sort: SortOrder): AssetOrder =>
  ({ by: sort.replace(/^-/, ''), isDescending: sort.startsWith('-') }) as AssetOrder;

/** `key`: the value that the list is sorted by, as text. Equal values are in the order of their ids. */
export type PlaceInList = { readonly key: string; readonly id: string };
