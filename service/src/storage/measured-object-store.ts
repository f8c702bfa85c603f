// Measures and traces the operations of an object store.
import type { Readable } from 'node:stream';
import type { SpanStart } from '../platform/observability/trace-span.ts';
import { spanned, startSpan } from '../platform/observability/tracing.ts';
import { type Metrics, REQUEST_DURATIONS, secondsSince } from '../platform/observability/metrics.ts';
import {
  type DirectUploads,
  type ObjectStore,
  ObjectStoreError,
  type PartialObjects,
  SourceError,
  type SourceObjects,
} from './object-store.ts';

const DURATIONS = {
  name: 'mediary_object_store_operation_duration_seconds',
  help: 'Time of operations of the object store by result; put, append and stream wait for clients too.',
  labels: ['operation', 'result'],
  buckets: REQUEST_DURATIONS,
} as const;

type Measure = <A extends readonly unknown[], R>(
  operation: string,
  run: (...args: A) => Promise<R>,
) => (...args: A) => Promise<R>;

type RecordOperation = (operation: string, result: string, startMs: number) => void;

/** Lists, presigned requests and diagnoses are passed on unchanged. */
export function measureObjectStore(store: ObjectStore, metrics: Metrics): ObjectStore {
  const record: RecordOperation = (operation, result, startMs) =>
    metrics.observe(DURATIONS, { operation, result }, secondsSince(startMs));
  const measure: Measure = (operation, run) => measureCalls(record, operation, run);
  return {
    ...store,
    put: measure('put', store.put),
    putSmall: measure('put_small', store.putSmall),
    putFile: measure('put_file', store.putFile),
    copy: measure('copy', store.copy),
    size: measure('size', store.size),
    read: measure('read', store.read),
    stream: (key, range) => measureStream(record, store.stream(key, range)),
    ...(store.open && { open: measure('open', store.open) }),
    remove: measure('remove', store.remove),
    removeAll: measure('remove_all', store.removeAll),
    ...(store.partial && { partial: measurePartial(store.partial, measure) }),
    ...(store.sources && { sources: measureSources(store.sources, measure) }),
    ...(store.direct && { direct: measureDirect(store.direct, measure) }),
    check: measure('check', store.check),
  };
}

const measurePartial = (partial: PartialObjects, measure: Measure): PartialObjects => ({
  append: measure('append', partial.append),
  finish: measure('finish', partial.finish),
  discard: measure('discard', partial.discard),
});

const measureSources = (sources: SourceObjects, measure: Measure): SourceObjects => ({
  find: measure('find_source', sources.find),
  copy: measure('copy_source', sources.copy),
  remove: measure('remove_source', sources.remove),
});

const measureDirect = (direct: DirectUploads, measure: Measure): DirectUploads => ({
  ...direct,
  createMultipart: measure('create_multipart', direct.createMultipart),
  listParts: measure('list_parts', direct.listParts),
  completeMultipart: measure('complete_multipart', direct.completeMultipart),
  abortMultipart: measure('abort_multipart', direct.abortMultipart),
});

const measureCalls =
  <A extends readonly unknown[], R>(
    record: RecordOperation,
    operation: string,
    run: (...args: A) => Promise<R>,
  ): ((...args: A) => Promise<R>) =>
  async (...args) => {
    const startMs = performance.now();
    try {
      const result = await spanned(spanOf(operation), () => run(...args));
      record(operation, 'ok', startMs);
      return result;
    } catch (error) {
      record(operation, isNamed(error) ? error.reason : 'error', startMs);
      throw error;
    }
  };

const isNamed = (error: unknown): error is ObjectStoreError | SourceError =>
  error instanceof ObjectStoreError || error instanceof SourceError;

/** Without the key, which would make names of spans many. */
const spanOf = (operation: string): SpanStart => ({
  name: `store ${operation}`,
  kind: 'client',
  attributes: { 'mediary.store.operation': operation },
});

function measureStream(record: RecordOperation, stream: Readable): Readable {
  const startMs = performance.now();
  const span = startSpan(spanOf('stream'));
  return stream.once('close', () => {
    record('stream', stream.errored ? 'error' : 'ok', startMs);
    span?.end(stream.errored ?? undefined);
  });
}
