// Erasures of owners as an operator starts, follows and verifies them.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { expect } from 'vitest';
import { asOperator, call, eventually } from '../service.ts';

export type ErasureJson = {
  readonly id: string;
  readonly status: string;
  readonly phase: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly waiting: readonly { readonly reason: string; readonly asset_count: number }[];
};

type Api = { readonly url: string };
const pathOf = (owner: string) => `/admin/owners/${encodeURIComponent(owner)}`;

export async function erase(service: Api, owner: string, query = ''): Promise<ErasureJson> {
  const { status, body } = await call<{ erasure: ErasureJson }>(service, `DELETE ${pathOf(owner)}${query}`, {
    headers: asOperator,
  });
  expect(status, JSON.stringify(body)).toBe(202);
  return body.data.erasure;
}

export async function erasureOf(service: Api, owner: string, id: string): Promise<ErasureJson> {
  const answer = await call<{ erasure: ErasureJson }>(service, `GET ${pathOf(owner)}/erasures/${id}`, {
    headers: asOperator,
  });
  return answer.body.data.erasure;
}

export const completed = (service: Api, owner: string, id: string): Promise<ErasureJson> =>
  eventually(
    () => erasureOf(service, owner, id),
    ({ status }) => status === 'completed',
    { withinMs: 120_000 },
  );

/** Verified as the guide says, without the code of the service. */
export async function receiptOf(service: Api, owner: string, id: string) {
  const response = await fetch(`${service.url}${pathOf(owner)}/erasures/${id}/receipt`, {
    headers: asOperator,
  });
  const text = await response.text();
  const all = text.trimEnd().split('\n');
  const signed = JSON.parse(all.pop() ?? '') as Record<'statement' | 'signature' | 'public_key', string>;
  const key = createPublicKey({ key: Buffer.from(signed.public_key, 'base64'), format: 'der', type: 'spki' });
  const statement = JSON.parse(signed.statement) as Record<string, unknown>;
  const digest = createHash('sha256');
  for (const line of all) digest.update(`${line}\n`);
  expect(statement).toMatchObject({
    lines: all.length,
    lines_sha256: digest.digest('hex'),
    owner_sha256: createHash('sha256').update(`${id}:${owner}`).digest('hex'),
  });
  return {
    text,
    statement,
    lines: all.map((line) => JSON.parse(line) as Record<string, unknown>),
    isSigned: verify(null, Buffer.from(signed.statement), key, Buffer.from(signed.signature, 'base64url')),
  };
}
