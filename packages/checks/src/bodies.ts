// Checks what a proxy does to the bodies of requests: limits and buffering.
import { type Finding, notChecked, ok, problem, warning } from './finding.ts';
import type { ProbeRequest, ProbeResult, Send } from './probe.ts';
import { describeProbe, isStatus } from './reply.ts';

/** What the service saw of the body of a request. */
export type SeenBody = {
  readonly body_bytes: number;
  readonly chunks: readonly { readonly at_ms: number; readonly bytes: number }[];
};

export type Transfers = {
  /** The part of the names of findings before the dot. */
  readonly group: string;
  readonly send: Send;
  /** The report about a request; undefined when the service did not send it. */
  readonly findSeenBody: (result: ProbeResult) => SeenBody | undefined;
  readonly maxUploadBytes: number;
  /** Bytes of the body that is really sent. */
  readonly sentBytes: number;
  /** Uploads go straight to the object store. */
  readonly isDirect: boolean;
};

export const ECHO = '/api/v1/uploads/diagnostics/echo';

/** The request of the check: a first part, a pause, the rest. */
const FIRST_PART_BYTES = 1024;
const PAUSE_MS = 300;
/** Proxies accept it, and buffer it if they buffer. */
const SMALL_BYTES = 64 * 1024;
/** A proxy that buffers requests never answers an announced body, so this is how long to wait for it. */
const ANNOUNCED_TIMEOUT_MS = 2000;
/** At 70 kB/s. */
const SENT_TIMEOUT_MS = 120_000;

const wholeBody = (parts: readonly Uint8Array[]): Pick<ProbeRequest, 'body'> => ({
  body: {
    announcedBytes: parts.reduce((total, { byteLength }) => total + byteLength, 0),
    parts: parts.map((bytes, index) => ({ afterMs: index === 0 ? 0 : PAUSE_MS, bytes })),
  },
});

const sendWithPause = (send: Send, bytes: number): Promise<ProbeResult> =>
  send({
    method: 'POST',
    path: ECHO,
    ...wholeBody([new Uint8Array(FIRST_PART_BYTES), new Uint8Array(bytes - FIRST_PART_BYTES)]),
    ...(bytes > 2 * 1024 ** 2 && { timeoutMs: SENT_TIMEOUT_MS }),
  });

/** Sends the head and little more: the service responds to the head. */
const announce = (send: Send, announcedBytes: number): Promise<ProbeResult> =>
  send({
    method: 'POST',
    path: `${ECHO}?respond=head`,
    body: { announcedBytes, parts: [{ afterMs: 0, bytes: new Uint8Array(1) }] },
    timeoutMs: ANNOUNCED_TIMEOUT_MS,
  });

const MIB = 1024 ** 2;
/** Limits that proxies and hosts have by default. */
const COMMON_LIMITS = [1 * MIB, 10 * MIB, 100 * MIB, 1024 * MIB];

/** The largest of the common limits that passes. */
async function findAcceptedBytes(send: Send, maxUploadBytes: number): Promise<number | undefined> {
  for (const bytes of COMMON_LIMITS.filter((limit) => limit < maxUploadBytes).reverse())
    if (!isStatus(await announce(send, bytes), 413)) return bytes;
  return undefined;
}

export async function checkBodyLimit(transfers: Transfers): Promise<Finding> {
  const { group, send, maxUploadBytes } = transfers;
  const sentBytes = Math.max(2 * FIRST_PART_BYTES, Math.min(transfers.sentBytes, maxUploadBytes));
  const sent = await sendWithPause(send, sentBytes);
  const announced = await announce(send, maxUploadBytes);
  const acceptedBytes = isStatus(announced, 413) ? await findAcceptedBytes(send, maxUploadBytes) : undefined;
  return judgeBodyLimit(
    `${group}.body_limit`,
    { announced, sent },
    { ...transfers, sentBytes, acceptedBytes },
  );
}

export async function checkRequestBuffering({ group, send, findSeenBody }: Transfers): Promise<Finding> {
  return judgeRequestBuffering(
    `${group}.request_buffering`,
    findSeenBody(await sendWithPause(send, SMALL_BYTES)),
  );
}

type BodyProbes = {
  /** Announced MAX_UPLOAD_BYTES, and sent almost nothing. */
  readonly announced: ProbeResult;
  /** Sent `sentBytes`. */
  readonly sent: ProbeResult;
};
type BodyContext = Pick<Transfers, 'maxUploadBytes' | 'sentBytes' | 'isDirect'> & {
  /** The largest announced length that passed, where MAX_UPLOAD_BYTES did not. */
  readonly acceptedBytes: number | undefined;
};

export function judgeBodyLimit(
  check: string,
  { announced, sent }: BodyProbes,
  context: BodyContext,
): Finding {
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
      message: `A body of ${sentBytes} bytes did not pass: ${describeProbe(sent)}.`,
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
export function judgeRequestBuffering(check: string, seen: SeenBody | undefined): Finding {
  if (!seen) return notChecked(check, 'Needs a body that passes the proxy.');
  const [first, second] = seen.chunks;
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
