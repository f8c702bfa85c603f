// Waits for the engine of an asset: the processes that encode it.
import { eventually } from '../service.ts';
import { processesNaming } from '../service/traces.ts';

export const waitForEngine = (id: string) =>
  eventually(
    () => processesNaming(id),
    ({ length }) => length > 0,
  );

/** `withinMs`: a stopped engine ends long before the film would. */
export const waitForEngineEnd = (id: string, options?: { readonly withinMs: number }) =>
  eventually(
    () => processesNaming(id),
    ({ length }) => length === 0,
    options,
  );
