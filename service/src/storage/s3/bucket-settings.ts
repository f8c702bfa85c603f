// Reads the settings of a bucket that the service depends on but does not change: CORS and lifecycle rules.
import { GetBucketLifecycleConfigurationCommand, type LifecycleRule } from '@aws-sdk/client-s3';
import type { PresignedRequest } from '../object-store.ts';
import type { S3Connection } from './connection.ts';
import { hasName } from './errors.ts';
import { addUnfinishedUploadsRule, removesUnfinishedUploads } from './lifecycle-rules.ts';

const REQUEST_MS = 15_000;
/** The headers of uploads and range requests of browsers that need permission. */
const REQUEST_HEADERS = ['content-type', 'if-none-match', 'x-amz-content-sha256', 'range'];
/** Read by clients that upload in parts, and by players. */
const EXPOSED_HEADERS = ['etag', 'content-range'];

/**
 * What a page of this origin lacks, learned as its browser would: by preflight requests and an upload of one
 * byte.
 */
export async function findCorsProblem(
  { url, headers }: PresignedRequest,
  origin: string,
): Promise<string | undefined> {
  for (const method of ['PUT', 'GET']) {
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': REQUEST_HEADERS.join(','),
      },
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    const problem = problemOf(preflight, { origin, method });
    if (problem !== undefined) return problem;
  }
  const answer = await fetch(url, {
    method: 'PUT',
    headers: { ...headers, origin },
    body: 'x',
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  const exposed = listed(answer.headers.get('access-control-expose-headers'));
  const hidden = EXPOSED_HEADERS.filter((name) => !exposed.includes(name) && !exposed.includes('*'));
  return hidden.length === 0 ? undefined : `the store does not expose ${hidden.join(', ')}`;
}

type Preflight = { readonly origin: string; readonly method: string };

function problemOf({ status, headers }: Response, { origin, method }: Preflight): string | undefined {
  const allowedOrigin = headers.get('access-control-allow-origin');
  if (status >= 300 || (allowedOrigin !== '*' && allowedOrigin !== origin))
    return `${method} is not allowed from this origin`;
  if (!listed(headers.get('access-control-allow-methods')).includes(method.toLowerCase()))
    return `${method} is not allowed`;
  const allowed = listed(headers.get('access-control-allow-headers'));
  const missing = REQUEST_HEADERS.filter((name) => !allowed.includes(name) && !allowed.includes('*'));
  return missing.length === 0 ? undefined : `the headers ${missing.join(', ')} are not allowed`;
}

const listed = (header: string | null): string[] =>
  (header ?? '').split(',').map((name) => name.trim().toLowerCase());

type LifecycleProblem = { readonly problem: string; readonly configuration: object };

export async function findLifecycleProblem(s3: S3Connection): Promise<LifecycleProblem | undefined> {
  const { prefix } = s3.location;
  const rules = await listLifecycleRules(s3);
  if (removesUnfinishedUploads(rules, prefix)) return undefined;
  const problem = prefix === '' ? 'no rule removes them' : `no rule removes those below ${prefix}`;
  return { problem, configuration: addUnfinishedUploadsRule(rules, prefix) };
}

async function listLifecycleRules(s3: S3Connection): Promise<readonly LifecycleRule[]> {
  const command = new GetBucketLifecycleConfigurationCommand({ Bucket: s3.location.bucket });
  try {
    const { Rules = [] } = await s3.run((options) => s3.client.send(command, options));
    return Rules;
  } catch (error) {
    if (hasName(error, 'NoSuchLifecycleConfiguration')) return [];
    throw error;
  }
}
