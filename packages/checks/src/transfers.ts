// Checks what a proxy changes, by the diagnostics of the service behind it.
import { type Finding, notChecked, ok, problem, warning } from './finding.ts';
import { checkBodyLimit, checkRequestBuffering, ECHO, type Transfers } from './bodies.ts';
import type { ProbeResult } from './probe.ts';
import { describeProbe, headerOf, isStatus, parseEnvelope } from './reply.ts';

export const FILE = '/api/v1/downloads/diagnostics/stream?type=bytes';
/** Bytes of the file; byte n has the value n mod 251. */
const FILE_BYTES = 65_536;

/** The checks of one proxy, one after the other, so that they do not disturb each other's times. */
export const TRANSFER_CHECKS: Readonly<Record<string, (transfers: Transfers) => Promise<Finding>>> = {
  methods: checkMethods,
  body_limit: checkBodyLimit,
  request_buffering: checkRequestBuffering,
  response_buffering: checkResponseBuffering,
  ranges: checkRanges,
};

export async function checkTransfers(transfers: Transfers): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of Object.values(TRANSFER_CHECKS)) findings.push(await check(transfers));
  return findings;
}

async function checkMethods({ group, send }: Transfers): Promise<Finding> {
  const probes: MethodProbe[] = [];
  for (const method of ['PUT', 'PATCH', 'DELETE'] as const)
    probes.push({ method, result: await send({ method, path: ECHO }) });
  return judgeMethods(`${group}.methods`, probes);
}

const EVENTS = { events: 3, intervalMs: 250 };

async function checkResponseBuffering({ group, send }: Transfers): Promise<Finding> {
  const { events, intervalMs } = EVENTS;
  const path = `/api/v1/admin/diagnostics/stream?chunks=${events}&interval_ms=${intervalMs}`;
  return judgeResponseBuffering(`${group}.response_buffering`, await send({ method: 'GET', path }));
}

async function checkRanges({ group, send }: Transfers): Promise<Finding> {
  const part = await send({ method: 'GET', path: FILE, headers: { range: RANGE.header } });
  const head = await send({ method: 'HEAD', path: FILE });
  return judgeRanges(`${group}.ranges`, { part, head });
}

export function judgeResponseBuffering(check: string, result: ProbeResult): Finding {
  if (!isStatus(result, 200)) return notChecked(check, `Not known: ${describeProbe(result)}.`);
  const duration = result.chunks.at(-1)?.atMs ?? 0;
  const sentMs = (EVENTS.events - 1) * EVENTS.intervalMs;
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

type MethodProbe = { readonly method: string; readonly result: ProbeResult };

/** The service answers methods of other routes 404, with the envelope. */
export function judgeMethods(check: string, probes: readonly MethodProbe[]): Finding {
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
            .map(({ method, result }) => ({ method, result: describeProbe(result) })),
        },
      });
}

const RANGE = { start: 1000, end: 1999, header: 'bytes=1000-1999' } as const;

type RangeProbes = { readonly part: ProbeResult; readonly head: ProbeResult };

export function judgeRanges(check: string, { part, head }: RangeProbes): Finding {
  if (!('status' in part)) return notChecked(check, `Not known: ${describeProbe(part)}.`);
  const contentRange = headerOf(part, 'content-range');
  const details = { status: part.status, content_range: contentRange ?? null };
  const isPart =
    part.status === 206 &&
    contentRange === `bytes ${RANGE.start}-${RANGE.end}/${FILE_BYTES}` &&
    part.body.length === RANGE.end - RANGE.start + 1 &&
    part.body.every((byte, index) => byte === (RANGE.start + index) % 251);
  if (!isPart)
    return problem(check, {
      message: `Byte ranges do not pass the proxy (${part.status} instead of 206): players cannot seek.`,
      fix: 'Let the proxy pass Range and If-Range on, and do not compress or rewrite responses.',
      details,
    });
  const length = 'status' in head ? headerOf(head, 'content-length') : undefined;
  if (!isStatus(head, 200) || length !== String(FILE_BYTES))
    return warning(check, {
      message: `HEAD does not return the length of a file through the proxy: ${describeProbe(head)}.`,
      fix: 'Let the proxy pass HEAD on, and do not compress /api/v1/downloads/ and /api/v1/playback/.',
      details: { ...details, head_content_length: length ?? null },
    });
  return ok(check, 'Byte ranges and HEAD pass.', details);
}
