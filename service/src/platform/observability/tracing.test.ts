// Spans continue the traces of others, belong to the call that waits for them, and need a collector.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { type CollectedSpan, startTraceCollector } from '../../../../test/support/service/trace-collector.ts';
import { createBatcher } from '../concurrency/batcher.ts';
import { createLogger } from './logger.ts';
import type { SpanStart } from './trace-span.ts';
import {
  continueTrace,
  currentTraceparent,
  endScope,
  openScope,
  runInScope,
  spanned,
  startSpan,
  startTracing,
  traceHeaders,
  withoutSpans,
} from './tracing.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const span = (name: string): SpanStart => ({ name, kind: 'internal' });
const IDENTITY = { instance: 'i1', host: 'h1', role: 'all', version: '1.2.3' };
const SETTINGS = { serviceName: undefined, sampler: 'parentbased_always_on', samplerRatio: 1 } as const;

describe('without a collector', () => {
  test('a span is the work itself, and nothing is sent', async () => {
    await startTracing({ settings: { ...SETTINGS, endpoint: undefined }, identity: IDENTITY, onError });
    const work = Promise.resolve('done');
    expect(spanned(span('a'), () => work)).toBe(work);
    expect(continueTrace(span('a'), PARENT, () => work)).toBe(work);
    await continueTrace(span('a'), PARENT, async () => expect(traceHeaders()).toEqual({}));
    expect(startSpan(span('a'))).toBeUndefined();
  });

  test('log lines of a request have its id until it ends', async () => {
    const lines: string[] = [];
    const log = createLogger('info', { write: (line) => void lines.push(line) });
    const scope = openScope('r1', () => span('request'), PARENT);
    await runInScope(scope, async () => {
      log.info('during');
      endScope(scope, {});
      await nextTurn();
      log.info('after');
    });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ request_id: 'r1' }, {}]);
    expect(lines[1]).not.toContain('request_id');
  });
});

const onError = (error: Error) => {
  throw error;
};

describe('with a collector', () => {
  let spans: readonly CollectedSpan[];
  let outside: string | undefined;
  const seen: Record<string, string | undefined> = {};
  beforeAll(async () => {
    const collector = await startTraceCollector();
    const { endpoint } = collector;
    const stop = await startTracing({ settings: { ...SETTINGS, endpoint }, identity: IDENTITY, onError });
    await recordSpans();
    await stop();
    outside = await continueTrace(span('late'), PARENT, async () => currentTraceparent());
    spans = collector.spans();
    await collector.stop();
  });

  async function recordSpans(): Promise<void> {
    await continueTrace(span('continued'), PARENT, async () => {
      await spanned(span('inner'), async () => {
        seen['inner'] = currentTraceparent();
      });
      startSpan(span('started'))?.end();
      await spanned(span('failing'), () =>
        Promise.reject(Object.assign(new Error('planted text'), { code: 'E1' })),
      ).catch(() => undefined);
      await withoutSpans(async () => {
        seen['unrecorded'] = currentTraceparent();
        await spanned(span('poll'), async () => undefined);
      });
    });
    for (const parent of INVALID) await continueTrace(span('invalid'), parent, async () => undefined);
    await continueTrace(span('unsampled'), `00-${TRACE}-b7ad6b7169203331-00`, async () => {
      seen['unsampled'] = currentTraceparent();
      await spanned(span('unsampled'), async () => undefined);
    });
    await spanned(span('alone'), async () => undefined);
    await continueTrace(span('busy'), undefined, async () => {
      for (let number = 0; number < 1500; number += 1)
        await spanned(span('one of many'), async () => undefined);
      seen['busy'] = currentTraceparent();
    });
    await leaveBehind();
    await batchItems();
  }

  /** Work that a request leaves in the background is not its own any more. */
  async function leaveBehind(): Promise<void> {
    let background: Promise<unknown> | undefined;
    await continueTrace(span('short'), undefined, async () => {
      background = nextTurn().then(() => spanned(span('left behind'), async () => undefined));
    });
    await background;
  }

  async function batchItems(): Promise<void> {
    const add = createBatcher(
      (items: readonly string[]) => spanned(span(`batch ${items}`), async () => items),
      { concurrency: 1, maxItems: 1 },
    );
    const send = (item: string) => continueTrace(span(`caller ${item}`), undefined, () => add(item));
    await Promise.all(['a', 'b', 'c'].map(send));
  }

  const INVALID = [
    undefined,
    '',
    `00-${TRACE}-b7ad6b7169203331`,
    `00-${TRACE}-b7ad6b7169203331-01-more`,
    `ff-${TRACE}-b7ad6b7169203331-01`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-b7ad6b7169203331-01`,
    `${PARENT}, ${PARENT}`,
    `${PARENT}\n`,
  ];

  const find = (name: string) => spans.filter((each) => each.name === name);
  const one = (name: string) => find(name)[0] as CollectedSpan;

  test('spans continue the trace of a traceparent', () => {
    expect(one('continued')).toMatchObject({ traceId: TRACE, parentSpanId: 'b7ad6b7169203331' });
    for (const name of ['inner', 'started', 'failing'])
      expect(one(name)).toMatchObject({ traceId: TRACE, parentSpanId: one('continued').spanId });
    expect(seen['inner']).toBe(`00-${TRACE}-${one('inner').spanId}-01`);
  });

  test('an invalid traceparent starts a trace', () => {
    expect(find('invalid')).toHaveLength(INVALID.length);
    expect(new Set(find('invalid').map(({ traceId }) => traceId)).size).toBe(INVALID.length);
    for (const { traceId, parentSpanId } of find('invalid')) {
      expect(traceId).not.toBe(TRACE);
      expect(parentSpanId ?? '').toBe('');
    }
  });

  test('a failed span names the code of its error, never the text', () => {
    expect(one('failing')).toMatchObject({ status: 2, attributes: { 'error.type': 'E1' } });
    expect(JSON.stringify(spans)).not.toContain('planted text');
  });

  test('a trace that the caller does not sample goes on without spans', () => {
    expect(find('unsampled')).toEqual([]);
    expect(seen['unsampled']).toMatch(RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  });

  test('repeated work has no spans, and asks others for none', () => {
    expect(find('poll')).toEqual([]);
    expect(seen['unrecorded']).toBe(`00-${TRACE}-${one('continued').spanId}-00`);
  });

  test('there are no spans outside of requests and jobs, nor after them', () => {
    for (const name of ['alone', 'left behind', 'late']) expect(find(name)).toEqual([]);
    expect(outside).toBeUndefined();
  });

  test('a request or job has 1000 spans at most, and its trace goes on', () => {
    expect(find('one of many')).toHaveLength(1000);
    expect(seen['busy']).toBe(`00-${one('busy').traceId}-${one('busy').spanId}-01`);
  });

  test('a batch belongs to its first item, whichever trace starts it', () => {
    for (const item of ['a', 'b', 'c'])
      expect(one(`batch ${item}`)).toMatchObject({ parentSpanId: one(`caller ${item}`).spanId });
  });

  test('spans name their process', () => {
    expect(one('continued').resource).toMatchObject({
      'service.name': 'mediary',
      'service.version': '1.2.3',
      'service.instance.id': 'i1',
      'host.name': 'h1',
      'mediary.role': 'all',
    });
  });
});
