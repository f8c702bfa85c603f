// Sorts what pictures carry: files contain pictures in decoding order, captions are in order of presentation.

type Timed = { readonly seconds: number };

type PresentationOrder<T extends Timed> = {
  readonly push: (item: T) => void;
  /** Passes on what is left. */
  readonly flush: () => void;
};

/** H.264 and HEVC reorder at most 16 frames; each may consist of two fields. */
const MAX_REORDERED = 33;

/** Calls `onNext` in order of time, and keeps the order of equal times. Holds a limited number of items. */
export function createPresentationOrder<T extends Timed>(onNext: (item: T) => void): PresentationOrder<T> {
  const waiting: T[] = [];
  const passNext = (): void => {
    const next = waiting.shift();
    if (next) onNext(next);
  };
  return {
    push: (item) => {
      const place = waiting.findLastIndex(({ seconds }) => seconds <= item.seconds);
      waiting.splice(place + 1, 0, item);
      if (waiting.length > MAX_REORDERED) passNext();
    },
    flush: () => {
      while (waiting.length > 0) passNext();
    },
  };
}
