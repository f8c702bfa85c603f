// Counts requests by operation and status, and measures how long they take.
import type { FastifyInstance } from 'fastify';
import { type Metrics, REQUEST_DURATIONS } from '../observability/metrics.ts';
import type { FindCachedResponse } from './cached-responses.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The id of the operation of the API; none of pages. */
    operationId?: string;
  }
}

const REQUESTS = {
  name: 'mediary_http_requests_total',
  help: 'Requests by operation of the API and class of the status; operation "none": any other path.',
  labels: ['operation', 'status'],
} as const;

const DURATIONS = {
  name: 'mediary_http_request_duration_seconds',
  help: 'Time from the head of a request to the end of its response, by operation of the API.',
  labels: ['operation'],
  buckets: REQUEST_DURATIONS,
} as const;

const CACHED = {
  name: 'mediary_http_cached_responses_total',
  help: 'Responses from the memory of the process, which mediary_http_requests_total does not count.',
  labels: [],
} as const;

const STATUS_CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'];

export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const operation = request.routeOptions.config?.operationId ?? 'none';
    const status = STATUS_CLASSES[Math.floor(reply.statusCode / 100)] ?? 'none';
    metrics.count(REQUESTS, { operation, status });
    metrics.observe(DURATIONS, { operation }, reply.elapsedTime / 1000);
    done();
  });
}

export const countCached =
  (find: FindCachedResponse, metrics: Metrics): FindCachedResponse =>
  (request) => {
    const cached = find(request);
    if (cached) metrics.count(CACHED, {});
    return cached;
  };
