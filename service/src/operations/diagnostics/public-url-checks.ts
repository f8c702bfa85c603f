// Sends requests through the public URL to this deployment itself, and judges what the proxy does to them.
import { type CrossOriginRequest, findCrossOriginTrouble } from '@mediary/checks/cors';
import { type Finding, notChecked, ok, problem } from '@mediary/checks/finding';
import { type Send, sendProbe } from '@mediary/checks/probe';
import { ECHO } from '@mediary/checks/bodies';
import { checkTransfers, FILE, TRANSFER_CHECKS } from '@mediary/checks/transfers';
import { randomUUID } from 'node:crypto';
import type { OperationsContext } from '../context.ts';
import { isProofOf, issueDiagnosticsToken } from './diagnostics-token.ts';
import { findEcho, judgeForwarded, judgePublicUrl, judgeUnreachable } from './public-url.ts';

/** Requests may wait in a proxy, and TLS needs time, but operators wait too. */
const TIMEOUT_MS = 5000;
const TOKEN_SECONDS = 60;
const GROUP = 'public_url';
const SENT_BYTES = 2 * 1024 ** 2;

const NEED_THE_LOOP = ['forwarded_headers', ...Object.keys(TRANSFER_CHECKS), 'cors'].map(
  (name) => `${GROUP}.${name}`,
);

/** Sends with one nonce, which the service signs. */
function openLoop({ service, urlSecrets, now }: OperationsContext, nonce: string): Send {
  const expires = Math.floor(now().getTime() / 1000) + TOKEN_SECONDS;
  const own = {
    'x-diagnostics-token': issueDiagnosticsToken(urlSecrets, { nonce, expires }),
    'x-request-id': nonce,
  };
  return ({ path, headers, timeoutMs = TIMEOUT_MS, ...request }) =>
    sendProbe({
      ...request,
      timeoutMs,
      url: `${service.publicBaseUrl()}${path}`,
      headers: { ...own, ...headers },
    });
}

export async function checkPublicUrl(ctx: OperationsContext): Promise<Finding[]> {
  const { service, urlSecrets, settings } = ctx;
  const { maxUploadBytes, s3, trustProxy, ratePerAddress } = settings;
  const baseUrl = service.publicBaseUrl();
  const nonce = randomUUID();
  const send = openLoop(ctx, nonce);
  const isProof = (proof: string) => isProofOf(urlSecrets, nonce, proof);
  const parts = [{ afterMs: 0, bytes: new Uint8Array(100) }];
  const result = await send({ method: 'POST', path: ECHO, body: { announcedBytes: 100, parts } });
  const first = judgePublicUrl(result, { baseUrl, requestId: nonce, isProof });
  const echo = findEcho(result, { isProof });
  if (!echo) return [first, ...judgeUnreachable(NEED_THE_LOOP)];
  const hasTrustProxy = trustProxy !== undefined;
  const hasAddressLimit = ratePerAddress !== undefined;
  return [
    first,
    judgeForwarded(echo, { baseUrl, hasTrustProxy, hasAddressLimit }),
    ...(await checkTransfers({
      group: GROUP,
      send,
      findSeenBody: (probed) => findEcho(probed, { isProof }),
      maxUploadBytes,
      sentBytes: SENT_BYTES,
      isDirect: s3?.direct === true,
    })),
    ...(await checkOrigins(send, settings.corsOrigins)),
  ];
}

const MAX_ORIGINS = 3;

/** The request of resumable uploads, which needs the most headers. */
const UPLOAD: CrossOriginRequest = {
  path: ECHO,
  method: 'PATCH',
  headers: ['authorization', 'content-type', 'tus-resumable', 'upload-length', 'upload-offset'],
  readPath: FILE,
  exposed: ['etag', 'location', 'tus-resumable', 'upload-expires', 'upload-length', 'upload-offset'],
};

async function checkOrigins(send: Send, corsOrigins: readonly string[]): Promise<Finding[]> {
  const check = `${GROUP}.cors`;
  if (corsOrigins.length === 0)
    return [
      notChecked(
        check,
        'CORS_ORIGINS is not set: only back ends use the API.',
        'Set CORS_ORIGINS if web pages upload.',
      ),
    ];
  const findings: Finding[] = [];
  for (const given of corsOrigins.slice(0, MAX_ORIGINS)) {
    const origin = given === '*' ? 'https://app.example.com' : given;
    const trouble = await findCrossOriginTrouble(send, origin, UPLOAD);
    findings.push(
      trouble === undefined
        ? ok(check, `Web pages of ${origin} can upload.`, { origin })
        : problem(check, {
            message: `Web pages of ${origin} cannot upload: ${trouble.text}.`,
            fix: trouble.fix,
            details: { origin },
          }),
    );
  }
  return findings;
}
