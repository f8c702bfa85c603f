// Keeps in the history how far the list was scrolled, so that people who come back find their place.
import { useDebouncedCallback } from '@mantine/hooks';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { type RefObject, useEffect, useLayoutEffect } from 'react';
import { libraryPlaceQuery } from '../../../api/library-place.ts';

const SAVE_AFTER_MS = 150;

/** `isMeasured`: the list has its height. */
export function useScrollMemory(list: RefObject<HTMLElement | null>, isMeasured: boolean): void {
  const queries = useQueryClient();
  const save = useDebouncedCallback(() => savePlace(queries), SAVE_AFTER_MS);
  useLayoutEffect(() => {
    if (!isMeasured) return;
    const top = readTop(history.state);
    if (top > 0) window.scrollTo(0, top);
    savePlace(queries);
  }, [isMeasured, queries]);
  useEffect(() => {
    const element = list.current;
    // A link changes the address before the delay is over.
    const saveAtOnce = (): void => {
      save.cancel();
      savePlace(queries);
    };
    window.addEventListener('scroll', save, { passive: true });
    element?.addEventListener('click', saveAtOnce, { capture: true });
    return () => {
      save.cancel();
      window.removeEventListener('scroll', save);
      element?.removeEventListener('click', saveAtOnce, { capture: true });
    };
  }, [list, save, queries]);
}

function savePlace(queries: QueryClient): void {
  const scrollTop = Math.round(window.scrollY);
  if (readTop(history.state) !== scrollTop) history.replaceState({ ...history.state, scrollTop }, '');
  queries.setQueryData(libraryPlaceQuery.queryKey, { query: location.search, scrollTop });
}

function readTop(state: unknown): number {
  if (typeof state !== 'object' || state === null || !('scrollTop' in state)) return 0;
  return typeof state.scrollTop === 'number' ? state.scrollTop : 0;
}
