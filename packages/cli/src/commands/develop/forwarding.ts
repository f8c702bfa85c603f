// What the commands share that send events to a server of the developer: options, retries, order and text.
import type { StreamedEvent } from '@mediary/client';
import { InvalidArgumentError } from 'commander';
import { collect } from '../../arguments.ts';
import type { CommandContext, Io } from '../../context.ts';
import { EVENT_TYPES } from '../../events/sample-event.ts';
import {
  createForwardSecret,
  type Forwarded,
  type ForwarderOptions,
  forwardEvent,
  isForwardSecret,
} from '../../events/webhook-forwarder.ts';
import { usageError } from '../../exit-codes.ts';
import { toPlain } from '../../text.ts';

/** Shorter than those of the service: a developer restarts a server within seconds. */
export const RETRY_DELAYS_MS = [1000, 2000, 5000, 10_000, 30_000];
/** Events that are sent or wait; no more are read from the service meanwhile. */
const MAX_OPEN = 100;

export function parseEndpoint(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Expected a URL such as http://localhost:3000/webhooks/media.');
}

export function parseSecret(text: string): string {
  if (isForwardSecret(text)) return text;
  throw new InvalidArgumentError('Expected whsec_ and Base64, as the service and this command print it.');
}

/** An unknown type would match no event, for ever. */
export function collectEventType(text: string, earlier?: readonly string[]): string[] {
  if (EVENT_TYPES.some((type) => type === text)) return collect(text, earlier);
  throw new InvalidArgumentError(`Expected one of ${EVENT_TYPES.join(', ')}.`);
}

const SECRET_VARIABLE = 'MEDIARY_WEBHOOK_SECRET';

/** Of the flag, else of the environment, which other users of the machine cannot read. */
export function findSecret(given: string | undefined, { env }: Pick<Io, 'env'>): string | undefined {
  const secret = given ?? (env[SECRET_VARIABLE] || undefined);
  if (secret === undefined || isForwardSecret(secret)) return secret;
  throw usageError(`${SECRET_VARIABLE} is invalid. Expected whsec_ and Base64, as the service prints it.`);
}

/** A new secret is printed. */
export function chooseSecret(given: string | undefined, { io, output }: SecretContext): string {
  const found = findSecret(given, io);
  if (found !== undefined) return found;
  const secret = createForwardSecret();
  output.note(`Your server verifies with this secret: ${secret}`);
  return secret;
}

type SecretContext = Pick<CommandContext, 'io' | 'output'>;

/**
 * The events of one asset arrive in their order: later ones wait while one is sent again. Resolves when there
 * is room for another event.
 */
export function createForwarder(options: ForwarderOptions, onForwarded: (forwarded: Forwarded) => void) {
  const lastOf = new Map<string, Promise<void>>();
  const open = new Set<Promise<void>>();
  const forward = async (event: StreamedEvent): Promise<void> => {
    try {
      onForwarded(await forwardEvent(event, options));
    } catch (error) {
      if (!options.signal.aborted) throw error;
    }
  };
  return async (event: StreamedEvent): Promise<void> => {
    const { asset_id: id } = event;
    const earlier = lastOf.get(id) ?? Promise.resolve();
    const sent = earlier.then(() => forward(event));
    const ended = sent.finally(() => {
      open.delete(ended);
      if (lastOf.get(id) === sent) lastOf.delete(id);
    });
    lastOf.set(id, sent);
    open.add(ended);
    if (open.size >= MAX_OPEN) await Promise.race(open);
  };
}

export function formatForwarded(forwarded: Forwarded): string {
  const { type, asset_id: id, attempts, duration_ms: ms } = forwarded;
  const runs = attempts === 1 ? '' : `, ${attempts} attempts`;
  return `${type.padEnd(18)}  ${id}  ${describeResult(forwarded)}  (${ms} ms${runs})`;
}

/** `204`, or `no response: connect ECONNREFUSED 127.0.0.1:3000`. */
export const describeResult = ({ status, error }: Forwarded): string =>
  status === null ? `no response: ${toPlain(error ?? '')}` : String(status);
