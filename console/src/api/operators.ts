// What the screens of operators share: how they read lists and change things.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { mediary } from './mediary.ts';

/** A page of a list. */
export type Listing<T> = { readonly items: readonly T[]; readonly next_cursor: string | null };

/** Keys of queries that are read again after a change begin with it. */
export const OPERATORS = 'operators';

type ReadContext = { readonly signal: AbortSignal; readonly pageParam?: unknown };

/** A query function of `GET /api/v1/admin/…`; a list without end passes its cursor. */
export const readAdmin =
  <T>(path: string, query: object = {}) =>
  ({ signal, pageParam }: ReadContext): Promise<T> =>
    mediary.request<T>({
      method: 'GET',
      path: `/admin${path}`,
      query: { ...query, cursor: pageParam },
      options: { signal },
    });

/** Members of an infinite query over pages. */
export const byCursor = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ next_cursor: next }: Listing<unknown>) => next ?? undefined,
};

export const changeAdmin = <T>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<T> =>
  mediary.request<T>({ method, path: `/admin${path}`, body });

/** Runs a change, then reads what operators see again. */
export function useOperatorAction<T>(action: () => Promise<T>, onDone?: (result: T) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: action,
    ...(onDone && { onSuccess: (result: T) => onDone(result) }),
    onSettled: () => queries.invalidateQueries({ queryKey: [OPERATORS] }),
  });
}

/** Saves what an operation returns as a file. The browser holds all of it until it is saved. */
export async function saveAdminFile(path: string, filename: string): Promise<void> {
  const response = await mediary.requestBytes({ method: 'GET', path: `/admin${path}` });
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), SAVE_MS);
}

/** Returns `data` of the response. */
export async function sendAdminFile<T>(path: string, file: Blob): Promise<T> {
  const headers = { 'content-type': file.type || 'application/octet-stream' };
  const response = await mediary.requestBytes({ method: 'POST', path: `/admin${path}`, text: file, headers });
  return ((await response.json()) as { data: T }).data;
}

/** Browsers read the blob after the click. */
const SAVE_MS = 60_000;
