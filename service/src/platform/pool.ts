// Lends things of which there are only so many: first come, first served.

export type Pool<T> = { take(): Promise<T>; give(item: T): void };

/** The one used last goes out first, since it is warm. */
export function poolOf<T>(items: readonly T[]): Pool<T> {
  const free = [...items];
  const waiting: ((item: T) => void)[] = [];
  return {
    take: async () => free.pop() ?? new Promise((resolve) => waiting.push(resolve)),
    give(item) {
      const next = waiting.shift();
      if (next) next(item);
      else free.push(item);
    },
  };
}
