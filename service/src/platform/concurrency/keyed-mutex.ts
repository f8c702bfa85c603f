// Work on one thing is done in turns within this process: of many who would race for a row, none has to lose.
import { isUnavailable } from '../errors.ts';

/** Waits for those who asked before under the same name, whatever became of their work; where that could not be reached, nobody behind waits once more. */
export type RunExclusive = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export function createKeyedMutex(): RunExclusive {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const before = last.get(name);
    const mine = before
      ? before.then(work, (error) => (isUnavailable(error) ? Promise.reject(error) : work()))
      : work();
    last.set(name, mine);
    const leave = () => {
      if (last.get(name) === mine) last.delete(name);
    };
    mine.then(leave, leave);
    return mine;
  };
}
