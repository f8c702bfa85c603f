// A screen starts at its top when a link leads to it. The browser restores the place of those who go back.
import { useEffect } from 'react';

export function useScrollToTop(): void {
  useEffect(() => {
    let path = location.pathname;
    const onMove = ({ type }: Event): void => {
      if (type === 'pushState' && location.pathname !== path) window.scrollTo(0, 0);
      path = location.pathname;
    };
    // The router sends the first for each navigation.
    window.addEventListener('pushState', onMove);
    window.addEventListener('popstate', onMove);
    return () => {
      window.removeEventListener('pushState', onMove);
      window.removeEventListener('popstate', onMove);
    };
  }, []);
}
