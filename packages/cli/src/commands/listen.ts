// `listen`: sends live events to a server of the developer as signed webhooks, without an endpoint of the
// service, so that a laptop without a public address receives them.
import type { StreamedEvent } from '@mediary/client';
import { type Command, InvalidArgumentError } from 'commander';
import { collect } from '../arguments.ts';
import type { CommandContext, Handler, Runner } from '../context.ts';
import { openEventStream } from '../events/event-stream.ts';
import { toPlain } from '../text.ts';
import {
  createForwardSecret,
  type Forwarded,
  type ForwarderOptions,
  forwardEvent,
  isForwardSecret,
} from '../events/webhook-forwarder.ts';

type ListenFlags = {
  readonly forwardTo: string;
  readonly secret?: string;
  readonly event?: readonly string[];
  readonly since?: string;
};

/** Shorter than those of the service: a developer restarts a server within seconds. */
const RETRY_DELAYS_MS = [1000, 2000, 5000, 10_000, 30_000];
/** Events that are sent or wait; no more are read from the service meanwhile. */
const MAX_OPEN = 100;

export const addListenCommand = (program: Command, run: Runner): Command =>
  program
    .command('listen')
    .description('Send live events to your server as signed webhooks, such as to one on your machine')
    .requiredOption('--forward-to <url>', 'URL of your server that receives the webhooks', parseUrl)
    .option('--secret <secret>', 'secret that signs (whsec_…); else a new one is printed', parseSecret)
    .option('--event <type>', 'only events of this type; may be repeated', collect)
    .option('--since <position>', 'continue after this position, or from the `beginning` of what is stored')
    .addHelpText('after', '\nExample:\n  mediary listen --forward-to http://localhost:3000/webhooks/media')
    .action(run(listen));

function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Expected a URL such as http://localhost:3000/webhooks/media.');
}

function parseSecret(text: string): string {
  if (isForwardSecret(text)) return text;
  throw new InvalidArgumentError('Expected whsec_ and Base64, as the service and this command print it.');
}

const listen: Handler<ListenFlags> = async (context, _args, flags) => {
  const secret = flags.secret ?? createForwardSecret();
  const endpoint = flags.forwardTo;
  context.output.note(
    `Your server verifies with this secret: ${secret}\nEvents go to ${endpoint}. Ctrl-C ends.`,
  );
  const forward = createForwarder(context, {
    endpoint,
    secret,
    signal: context.signal,
    retryDelaysMs: RETRY_DELAYS_MS,
  });
  let position = flags.since;
  try {
    for await (const event of await openEventStream(context, flags.since)) {
      ({ position } = event);
      if (flags.event === undefined || flags.event.includes(event.type)) await forward(event);
    }
  } finally {
    if (position !== undefined)
      context.output.note(`Continue: mediary listen --forward-to ${endpoint} --since ${position}`);
  }
};

/**
 * The events of one asset arrive in their order: later ones wait while one is sent again. Resolves when there
 * is room for another event.
 */
function createForwarder(context: CommandContext, options: ForwarderOptions) {
  const lastOf = new Map<string, Promise<void>>();
  const open = new Set<Promise<void>>();
  return async (event: StreamedEvent): Promise<void> => {
    const { asset_id: id } = event;
    const earlier = lastOf.get(id) ?? Promise.resolve();
    const sent = earlier.then(() => forwardAndPrint(context, event, options));
    const ended = sent.finally(() => {
      open.delete(ended);
      if (lastOf.get(id) === sent) lastOf.delete(id);
    });
    lastOf.set(id, sent);
    open.add(ended);
    if (open.size >= MAX_OPEN) await Promise.race(open);
  };
}

async function forwardAndPrint(
  { output }: CommandContext,
  event: StreamedEvent,
  options: ForwarderOptions,
): Promise<void> {
  try {
    const forwarded = await forwardEvent(event, options);
    output.item(forwarded, () => formatForwarded(forwarded));
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
}

function formatForwarded({
  type,
  asset_id: id,
  status,
  error,
  attempts,
  duration_ms: ms,
}: Forwarded): string {
  const result = status === null ? `no response: ${toPlain(error ?? '')}` : String(status);
  const runs = attempts === 1 ? '' : `, ${attempts} attempts`;
  return `${type.padEnd(18)}  ${id}  ${result}  (${ms} ms${runs})`;
}
