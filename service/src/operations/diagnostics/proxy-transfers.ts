// Judges how a proxy passes bodies, events and ranges on.
import type { EchoReport } from '@mediary/contract/schemas/diagnostics';
import { type Finding, notChecked, ok, problem, warning } from './finding.ts';
import {
  describeHttpProbe,
  headerOf,
  isStatus,
  parseEnvelope,
  type HttpProbeResult,
} from './http-probe-result.ts';

/** The request of the check: a first part, a pause, the rest. */
export const FIRST_PART_BYTES = 1024;
export const PAUSE_MS = 300;

type BodyProbes = {
  /** Announced MAX_UPLOAD_BYTES, and sent almost nothing. */
  readonly announced: HttpProbeResult;
  /** Sent `sentBytes`. */
  readonly sent: HttpProbeResult;
};
type BodyContext = {
  readonly maxUploadBytes: number;
  readonly sentBytes: number;
  /** The largest announced length that passed, where MAX_UPLOAD_BYTES did not. */
  readonly acceptedBytes: number | undefined;
  /** Uploads go straight to the object store. */
  readonly isDirect: boolean;
};

export function judgeBodyLimit({ announced, sent }: BodyProbes, context: BodyContext): Finding {
  const check = 'public_url.body_limit';
  const { maxUploadBytes, sentBytes, acceptedBytes, isDirect } = context;
  const details = {
    max_upload_bytes: maxUploadBytes,
    accepted_bytes: isStatus(sent, 200) ? sentBytes : 0,
    ...(acceptedBytes !== undefined && { accepted_announced_bytes: acceptedBytes }),
  };
  const refused = isStatus(sent, 413) ? sentBytes : isStatus(announced, 413) ? maxUploadBytes : undefined;
  if (refused !== undefined)
    return (isDirect ? warning : problem)(check, {
      message: `The proxy refuses a body of ${refused} bytes (413). MAX_UPLOAD_BYTES is ${maxUploadBytes}.`,
      fix:
        'nginx: "client_max_body_size 0;" in the location /api/v1/uploads/ (see deploy/nginx.conf). Other ' +
        'proxies: allow bodies of MAX_UPLOAD_BYTES, or lower MAX_UPLOAD_BYTES.',
      details: { ...details, refused_bytes: refused },
    });
  if (!isStatus(sent, 200))
    return problem(check, {
      message: `A body of ${sentBytes} bytes did not pass: ${describeHttpProbe(sent)}.`,
      fix: 'Look into the log of the proxy: a limit of bodies, a timeout or a filter of requests.',
      details: { ...details, refused_bytes: sentBytes },
    });
  if (isStatus(announced, 200))
    return ok(check, `The proxy accepts bodies of MAX_UPLOAD_BYTES (${maxUploadBytes}).`, details);
  return ok(
    check,
    `The proxy accepts bodies of ${sentBytes} bytes. Larger ones were announced, but not sent.`,
    details,
  );
}

/** A buffering proxy passes the body on in one go. */
export function judgeRequestBuffering(echo: EchoReport | undefined): Finding {
  const check = 'public_url.request_buffering';
  if (!echo) return notChecked(check, 'Needs a body that passes the proxy.');
  const [first, second] = echo.chunks;
  const gap = second?.at_ms ?? 0;
  const details = { first_chunk_bytes: first?.bytes ?? 0, pause_ms: PAUSE_MS, gap_ms: gap };
  if (first?.bytes === FIRST_PART_BYTES && gap >= PAUSE_MS / 2)
    return ok(check, 'Bodies arrive as clients send them.', details);
  return warning(check, {
    message:
      'The proxy keeps request bodies until they are complete: interrupted uploads lose all progress, and ' +
      'large ones need as much space on the disk of the proxy.',
    fix: 'nginx: "proxy_request_buffering off;" in the location /api/v1/uploads/ (see deploy/nginx.conf).',
    details,
  });
}

type EventContext = { readonly events: number; readonly intervalMs: number };

export function judgeResponseBuffering(
  result: HttpProbeResult,
  { events, intervalMs }: EventContext,
): Finding {
  const check = 'public_url.response_buffering';
  if (!isStatus(result, 200)) return notChecked(check, `Not known: ${describeHttpProbe(result)}.`);
  const duration = result.chunks.at(-1)?.atMs ?? 0;
  const sentMs = (events - 1) * intervalMs;
  const encoding = headerOf(result, 'content-encoding');
  const details = { sent_over_ms: sentMs, arrived_over_ms: Math.round(duration) };
  if (encoding !== undefined && encoding !== 'identity')
    return warning(check, {
      message: `The proxy compresses responses that clients want unchanged (${encoding}).`,
      fix: 'Do not compress text/event-stream: nginx: "gzip off;" or remove the type from gzip_types.',
      details: { ...details, content_encoding: encoding },
    });
  if (duration >= sentMs / 2) return ok(check, 'Responses arrive as the service sends them.', details);
  return problem(check, {
    message: 'The proxy keeps responses until they are complete: events arrive too late.',
    fix:
      'nginx: "proxy_buffering off;", or do not ignore X-Accel-Buffering. Other proxies: do not buffer ' +
      'text/event-stream.',
    details,
  });
}

type MethodProbe = { readonly method: string; readonly result: HttpProbeResult };

/** The service answers methods of other routes 404, with the envelope. */
export function judgeMethods(probes: readonly MethodProbe[]): Finding {
  const check = 'public_url.methods';
  const refused = probes
    .filter(({ result }) => !isStatus(result, 404) || parseEnvelope(result) === undefined)
    .map(({ method }) => method);
  return refused.length === 0
    ? ok(check, 'PUT, PATCH and DELETE pass.')
    : problem(check, {
        message: `The proxy does not pass ${refused.join(', ')} on: uploads, edits or deletes fail.`,
        fix: 'Allow GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS in the proxy, its firewall and its CDN.',
        details: {
          refused: probes
            .filter(({ method }) => refused.includes(method))
            .map(({ method, result }) => ({ method, result: describeHttpProbe(result) })),
        },
      });
}

export const RANGE = { start: 1000, end: 1999, header: 'bytes=1000-1999' } as const;

type RangeProbes = { readonly part: HttpProbeResult; readonly head: HttpProbeResult };

export function judgeRanges({ part, head }: RangeProbes, fileBytes: number): Finding {
  const check = 'public_url.ranges';
  if (!('status' in part)) return notChecked(check, `Not known: ${describeHttpProbe(part)}.`);
  const contentRange = headerOf(part, 'content-range');
  const details = { status: part.status, content_range: contentRange ?? null };
  const isPart =
    part.status === 206 &&
    contentRange === `bytes ${RANGE.start}-${RANGE.end}/${fileBytes}` &&
    part.body.length === RANGE.end - RANGE.start + 1 &&
    part.body.every((byte, index) => byte === (RANGE.start + index) % 251);
  if (!isPart)
    return problem(check, {
      message: `Byte ranges do not pass the proxy (${part.status} instead of 206): players cannot seek.`,
      fix: 'Let the proxy pass Range and If-Range on, and do not compress or rewrite responses.',
      details,
    });
  const length = 'status' in head ? headerOf(head, 'content-length') : undefined;
  if (!isStatus(head, 200) || length !== String(fileBytes))
    return warning(check, {
      message: `HEAD does not return the length of a file through the proxy: ${describeHttpProbe(head)}.`,
      fix: 'Let the proxy pass HEAD on, and do not compress /api/v1/downloads/ and /api/v1/playback/.',
      details: { ...details, head_content_length: length ?? null },
    });
  return ok(check, 'Byte ranges and HEAD pass.', details);
}
