// Rate limits per client address and per owner: 429 with the headers of the IETF draft.
import type { RateClass } from '@mediary/contract/operation';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../errors.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Queries } from '../../postgres/database.ts';
import {
  openRateLimiter,
  type RatePolicy,
  type RateResult,
  type TakeToken,
} from '../../postgres/token-bucket.ts';
import type { RateLimit } from '../../settings/setting.ts';
import { addressKey } from './client-address.ts';

export type Limiter = { readonly policy: RatePolicy; readonly take: TakeToken };

declare module 'fastify' {
  interface FastifyContextConfig {
    rateClass?: RateClass;
  }
}

type Headers = Readonly<Record<string, string>>;

/**
 * draft-ietf-httpapi-ratelimit-headers: `q` requests in `w` seconds; `r` remain, and the full quota is
 * restored in `t` seconds.
 */
const headersOf = ({ name, limit, windowSeconds }: RatePolicy, result: RateResult): Headers => ({
  'ratelimit-policy': `"${name}";q=${limit};w=${windowSeconds}`,
  ratelimit: `"${name}";r=${result.remaining};t=${result.resetSeconds}`,
});

function addHeaders(reply: FastifyReply, headers: Headers): void {
  for (const [name, value] of Object.entries(headers)) {
    const before = reply.getHeader(name);
    reply.header(name, before === undefined ? value : `${String(before)}, ${value}`);
  }
}

function rateLimitedError({ policy }: Limiter, result: RateResult): ServiceError {
  const { name, limit, windowSeconds } = policy;
  const seconds = result.retryAfterSeconds;
  return new ServiceError('RATE_LIMITED', `Too many requests. Retry in ${seconds} s`, {
    details: { reason: 'rate_limited', policy: name, limit, window_s: windowSeconds },
    retryAfterSeconds: seconds,
    headers: headersOf(policy, result),
  });
}

/** Throws RATE_LIMITED. Adds the rate limit headers to `reply`, if given. */
export async function limitOwner(
  limiter: Limiter | undefined,
  ownerUserId: string,
  reply?: FastifyReply,
): Promise<void> {
  const result = await limiter?.take(ownerUserId);
  if (!limiter || !result) return;
  if (!result.isAllowed) throw rateLimitedError(limiter, result);
  if (reply) addHeaders(reply, headersOf(limiter.policy, result));
}

type AddressLimiters = { readonly address: Limiter; readonly webhook: Limiter };
export type Limiters = {
  readonly owner: Limiter | undefined;
  readonly addresses: AddressLimiters | undefined;
};
type Rates = { readonly ratePerOwner: RateLimit | undefined; readonly ratePerAddress: RateLimit | undefined };

/** A provider sends the webhooks of all owners from a few addresses. */
const WEBHOOK_FACTOR = 10;

export function openLimiters(
  { db, log }: { db: Queries; log: Logger },
  { ratePerOwner, ratePerAddress }: Rates,
): Limiters {
  const onError = (error: unknown) =>
    log.warn({ err: error }, 'rate limits are not applied: the database does not respond');
  const open = (name: string, { limit, windowSeconds }: RateLimit): Limiter => {
    const policy = { name, limit, windowSeconds };
    return { policy, take: openRateLimiter({ db, policy, onError }) };
  };
  const webhookRate = ratePerAddress && { ...ratePerAddress, limit: ratePerAddress.limit * WEBHOOK_FACTOR };
  return {
    owner: ratePerOwner && open('owner', ratePerOwner),
    addresses: ratePerAddress &&
      webhookRate && { address: open('address', ratePerAddress), webhook: open('webhook', webhookRate) },
  };
}

/** Runs before authentication; requests to unknown routes count too. */
export function limitAddresses(app: FastifyInstance, limiters: AddressLimiters): void {
  app.addHook('onRequest', async (request, reply) => {
    const rateClass = request.routeOptions.config?.rateClass;
    const key = rateClass === 'none' ? undefined : addressOf(request);
    if (key === undefined) return;
    const limiter = rateClass === 'webhook' ? limiters.webhook : limiters.address;
    const result = await limiter.take(key);
    if (!result) return;
    if (result.isAllowed) return addHeaders(reply, headersOf(limiter.policy, result));
    throw rateClass === 'webhook' ? webhookLimitError(result) : rateLimitedError(limiter, result);
  });
}

/** Falls back to the proxy's address when X-Forwarded-For contains no valid address. */
const addressOf = ({ ip, socket }: FastifyRequest): string | undefined =>
  addressKey(ip) ?? addressKey(socket.remoteAddress ?? '');

/** The contract promises providers 200, 401, 413 or 5xx. They retry after 5xx. */
const webhookLimitError = ({ retryAfterSeconds }: RateResult): ServiceError =>
  new ServiceError('UNAVAILABLE', `Too many webhooks from this address. Retry in ${retryAfterSeconds} s`, {
    details: { reason: 'rate_limited' },
    retryAfterSeconds,
  });
