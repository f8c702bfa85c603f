// A tus server in memory.
import { buffer } from 'node:stream/consumers';
import type { BodyRequest, BodyResponse } from '../../platform/outbound/send-body.ts';

/** It has one upload. `statuses`: of its first responses, which it gives instead of its own. */
export function openTusServer(statuses: readonly number[]) {
  const planned = [...statuses];
  let received = Buffer.alloc(0);
  const respond = (status: number, headers: Record<string, string> = {}): BodyResponse => ({
    status,
    headers: new Headers(headers),
  });
  const send = async ({ method, bytes }: BodyRequest): Promise<BodyResponse> => {
    const status = planned.shift();
    if (status !== undefined) return respond(status, { 'retry-after': '60' });
    if (method === 'POST') return respond(201, { location: '/u1' });
    if (method === 'PATCH') received = Buffer.concat([received, await buffer(bytes)]);
    return respond(method === 'HEAD' ? 200 : 204, { 'upload-offset': String(received.length) });
  };
  return { send, received: () => received.toString() };
}
