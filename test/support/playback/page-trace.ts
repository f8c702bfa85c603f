// What the main thread of a page does, as Chromium traces it, and how much memory its scripts hold.
import type { CDPSession } from 'playwright-core';

type TraceEvent = {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time: other programs of the machine do not add to it. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
};

const CATEGORIES = ['toplevel', 'devtools.timeline', '__metadata'];
const TASKS = ['RunTask', 'ThreadControllerImpl::RunTask'];

/** Milliseconds of processor time of each task of the page while `work` runs, longest first. */
export async function traceTasks(session: CDPSession, work: () => Promise<unknown>): Promise<number[]> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: object[] }) => events.push(...(value as TraceEvent[]));
  session.on('Tracing.dataCollected', collect);
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: CATEGORIES, excludedCategories: ['*'] },
  });
  await work();
  const complete = new Promise((resolve) => {
    session.once('Tracing.tracingComplete', resolve);
  });
  await session.send('Tracing.end');
  await complete;
  session.off('Tracing.dataCollected', collect);
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const isMain = ({ name, args }: TraceEvent) => name === 'thread_name' && args.name === 'CrRendererMain';
  const threads = new Set(events.filter(isMain).map(threadOf));
  return events
    .filter((event) => event.ph === 'X' && TASKS.includes(event.name) && threads.has(threadOf(event)))
    .map(({ tdur = 0 }) => tdur / 1000)
    .sort((one, other) => other - one);
}

/** Bytes that scripts hold after a collection. */
export async function measureHeap(session: CDPSession): Promise<number> {
  // The second collection frees what finalizers of the first one released.
  for (let run = 0; run < 2; run += 1) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}
