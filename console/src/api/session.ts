// Who is signed in.
import type { ConsoleSession, CreateSessionRequest } from '@mediary/contract/schemas/admin/console';
import { MediaryError } from '@mediary/client';
import {
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { mediary } from './mediary.ts';
import { clearUploads, clearUploadsOfOthers } from './uploads.ts';

const PATH = '/console/session';

/** Whether the request for this page had the cookie of a session, which scripts cannot read. */
const HAD_COOKIE = document.querySelector('meta[name="mediary-session"]') !== null;

/** Null where nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<ConsoleSession | null> => {
    if (!HAD_COOKIE) return null;
    try {
      return await mediary.request<ConsoleSession>({ method: 'GET', path: PATH, options: { signal } });
    } catch (error) {
      if (isSignedOut(error)) return null;
      throw error;
    }
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** True after the service has refused a session that this page had. */
export const sessionEndedQuery = queryOptions({
  queryKey: [...sessionQuery.queryKey, 'ended'],
  queryFn: () => false,
  initialData: false,
  staleTime: Number.POSITIVE_INFINITY,
});

export const isSignedOut = (error: unknown): boolean => error instanceof MediaryError && error.status === 401;

export const useSession = (): ConsoleSession | null => useSuspenseQuery(sessionQuery).data;

export function useSignIn() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (credentials: CreateSessionRequest) =>
      mediary.request<ConsoleSession>({
        method: 'POST',
        path: PATH,
        body: credentials,
        // A code works once.
        isRepeatable: false,
      }),
    onSuccess: (session) => {
      clearUploadsOfOthers(session);
      queries.setQueryData(sessionEndedQuery.queryKey, false);
      queries.setQueryData(sessionQuery.queryKey, session);
    },
  });
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => mediary.request({ method: 'DELETE', path: PATH }),
    onSuccess: () => {
      clearUploads();
      forgetSession(queries);
    },
  });
}

/** The service refuses the session: it has expired, or somebody has ended it. */
export function endSession(queries: QueryClient): void {
  queries.setQueryData(sessionEndedQuery.queryKey, true);
  forgetSession(queries);
}

/** What the last person saw is not shown to the next one. */
function forgetSession(queries: QueryClient): void {
  queries.setQueryData(sessionQuery.queryKey, null);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
}
