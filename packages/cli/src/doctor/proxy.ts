// Checks of a proxy in front of the service: limits and buffering, by what arrives on the other side.
import { type Finding, notChecked } from '@mediary/checks/finding';
import type { ProbeResult, Send } from '@mediary/checks/probe';
import { parseEnvelope } from '@mediary/checks/reply';
import { ECHO, type SeenBody } from '@mediary/checks/bodies';
import { checkTransfers } from '@mediary/checks/transfers';

type Proxy = {
  readonly operatorKey: string;
  /** Size of the body that is really sent. */
  readonly bodyBytes: number;
  readonly maxUploadBytes: number;
};

export async function checkProxy(send: Send, proxy: Proxy): Promise<readonly Finding[]> {
  const { operatorKey, bodyBytes: sentBytes, maxUploadBytes } = proxy;
  const sendAsOperator: Send = ({ headers, ...request }) =>
    send({
      ...request,
      headers: {
        'x-operator-key': operatorKey,
        'content-type': 'application/octet-stream',
        ...headers,
      },
    });
  const parts = [{ afterMs: 0, bytes: new Uint8Array(100) }];
  const body = { announcedBytes: 100, parts };
  // The service without these endpoints, or a refused key: another check reports that.
  if (!findSeenBody(await sendAsOperator({ method: 'POST', path: ECHO, body })))
    return [notChecked('proxy', 'The diagnostics of the service do not answer.')];
  return checkTransfers({
    group: 'proxy',
    send: sendAsOperator,
    findSeenBody,
    maxUploadBytes,
    sentBytes,
    isDirect: false,
  });
}

const findSeenBody = (result: ProbeResult): SeenBody | undefined =>
  'status' in result && result.status === 200
    ? (parseEnvelope(result)?.data as SeenBody | undefined)
    : undefined;
