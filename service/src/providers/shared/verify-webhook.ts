// Verifies webhooks in a fixed order: configuration, signature of the raw bytes, JSON (contract A5, B6).
import { isPlainText } from '../../platform/values/plain-text.ts';
import type { Secret } from '../../auth/secret.ts';
import type { ParsedWebhook, RejectedWebhook } from '../provider.ts';

type WebhookVerification = {
  readonly secrets: readonly Secret[];
  /** True when the operator allows unsigned webhooks while no secret is set. */
  readonly allowUnsigned: boolean;
  readonly verify: () => boolean;
  readonly parse: () => ParsedWebhook;
};

export function verifyWebhook({
  secrets,
  allowUnsigned,
  verify,
  parse,
}: WebhookVerification): ParsedWebhook | RejectedWebhook {
  if (secrets.length === 0 && !allowUnsigned) return { rejected: 'not configured' };
  if (secrets.length > 0 && !verify()) return { rejected: 'Invalid webhook signature' };
  return rejectMalformed(parse);
}

/** Invalid JSON is rejected with any signature. */
export function rejectMalformed(parse: () => ParsedWebhook): ParsedWebhook | RejectedWebhook {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError)
      return { rejected: 'Invalid webhook payload' };
    throw error;
  }
}

/** Own members of a JSON object; undefined for any other value. */
export function toJsonObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.assign(Object.create(null), value) as Record<string, unknown>;
}

/** An id that can be looked up: short plain text. */
export const isVideoId = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= 255 && isPlainText(value);

export const NOT_ACTIONABLE = { reason: 'not_actionable' } as const satisfies ParsedWebhook;
