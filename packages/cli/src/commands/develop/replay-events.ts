// `events replay`: sends stored events to a server of the developer again, signed and in their order.
import type { StreamedEvent } from '@mediary/client';
import { type Command, InvalidArgumentError } from 'commander';
import { parseCount, parseWait } from '../../arguments.ts';
import { openClient } from '../../client.ts';
import type { CommandContext, Handler, Runner } from '../../context.ts';
import { CliError, EXIT, usageError } from '../../exit-codes.ts';
import { openEventStream } from '../../events/event-stream.ts';
import { readStoredEvents } from '../../events/stored-events.ts';
import { type Forwarded, forwardEvent } from '../../events/webhook-forwarder.ts';
import { formatTable, formatTime } from '../../text.ts';
import {
  chooseSecret,
  collectEventType,
  describeResult,
  parseEndpoint,
  parseSecret,
  RETRY_DELAYS_MS,
} from './forwarding.ts';

type Start = { readonly position: string } | { readonly time: Date };

type ReplayFlags = {
  readonly forwardTo: string;
  readonly secret?: string;
  readonly asset?: string;
  readonly event?: readonly string[];
  readonly limit: number;
  readonly retries: number;
  readonly silence: number;
};

const DEFAULT_LIMIT = 100;
const DEFAULT_RETRIES = 2;
const DEFAULT_SILENCE_S = 5;

export const addReplayEventsCommand = (events: Command, run: Runner): Command =>
  events
    .command('replay')
    .description('Send stored events to your server again as signed webhooks, in their order')
    .requiredOption('--forward-to <url>', 'URL of your server that receives the webhooks', parseEndpoint)
    .option('--secret <secret>', 'secret that signs (whsec_…); else a new one is printed', parseSecret)
    .option('--asset <id>', 'events of this asset')
    .option('--since <start>', 'events after a position, since a time (ISO 8601), or `beginning`')
    .option('--event <type>', 'only events of this type; may be repeated', collectEventType)
    .option('--limit <count>', 'events to send at most', parseCount, DEFAULT_LIMIT)
    .option('--retries <count>', 'further attempts for each event, 0 to 5', parseRetries, DEFAULT_RETRIES)
    .option('--silence <duration>', 'ends after this time without an event', parseWait, DEFAULT_SILENCE_S)
    .addHelpText('after', EXAMPLES)
    .action(run(replayEvents));

const EXAMPLES = `
Examples:
  mediary events replay --asset <id> --forward-to http://localhost:3000/webhooks/media
  mediary events replay --since 2026-11-22T10:00:00Z --limit 20 --forward-to http://localhost:3000/hook`;

function parseStart(text: string): Start {
  if (text === 'beginning' || /^\d+-[\da-f-]{36}$/.test(text)) return { position: text };
  const time = new Date(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(time.getTime())) return { time };
  throw usageError('--since: expected a position, `beginning`, or a time such as 2026-11-22T10:00:00Z.');
}

function parseRetries(text: string): number {
  if (/^[0-5]$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number from 0 to 5.');
}

type ReplayedEvent = Forwarded & { readonly at: string; readonly position: string };

/** `events` has --since too, and commander gives its value to that command wherever it stands. */
const replayEvents: Handler<ReplayFlags> = async (context, _args, flags) => {
  const { output, signal } = context;
  const { since } = context.flags as { readonly since?: string };
  if (flags.asset === undefined && since === undefined)
    throw usageError('Name what to replay: --asset <id>, --since <position or time>, or both.');
  const start = parseStart(since ?? 'beginning');
  const endpoint = flags.forwardTo;
  const secret = chooseSecret(flags.secret, context);
  const retryDelaysMs = RETRY_DELAYS_MS.slice(0, flags.retries);
  const items: ReplayedEvent[] = [];
  try {
    for await (const event of await openStoredEvents(context, start, flags)) {
      if (!isChosen(event, start, flags)) continue;
      const forwarded = await forwardEvent(event, { endpoint, secret, signal, retryDelaysMs });
      items.push({ ...forwarded, at: event.at, position: event.position });
      if (items.length === flags.limit) break;
    }
  } finally {
    output.result({ items }, () => formatReplayed(items));
    noteEnd(context, items, flags);
  }
  const refused = items.filter(({ accepted }) => !accepted).length;
  if (refused > 0)
    throw new CliError(`${endpoint} did not accept ${refused} of ${items.length} events.`, EXIT.failed);
};

/** A time has no position: the stream begins with the first stored event, and earlier ones are left out. */
async function openStoredEvents(context: CommandContext, start: Start, { asset, silence }: ReplayFlags) {
  const startedAt = new Date();
  const lastEventId = 'position' in start ? start.position : 'beginning';
  return readStoredEvents(
    async (signal) => {
      if (asset === undefined) return openEventStream({ ...context, signal }, lastEventId);
      const { mediary } = await openClient(context);
      return mediary.media.events(asset, { signal, lastEventId });
    },
    { until: startedAt, silenceMs: silence * 1000, signal: context.signal },
  );
}

const isChosen = ({ type, at }: StreamedEvent, start: Start, { event }: ReplayFlags): boolean =>
  (event === undefined || event.includes(type)) &&
  !('time' in start && Date.parse(at) < start.time.getTime());

const formatReplayed = (items: readonly ReplayedEvent[]): string =>
  formatTable(
    ['TIME', 'TYPE', 'ASSET', 'ATTEMPTS', 'MS', 'RESULT'],
    items.map((item) => [
      formatTime(item.at),
      item.type,
      item.asset_id,
      item.attempts,
      item.duration_ms,
      describeResult(item),
    ]),
  );

function noteEnd(
  { output }: CommandContext,
  items: readonly ReplayedEvent[],
  { limit, asset, forwardTo }: ReplayFlags,
): void {
  const position = items.at(-1)?.position;
  const scope = asset === undefined ? '' : ` --asset ${asset}`;
  const next = `mediary events replay --forward-to ${forwardTo}${scope} --since ${position}`;
  if (items.length === limit) output.note(`The limit of ${limit} events is reached. Continue: ${next}`);
  else if (position === undefined) output.note('No stored event matches.');
  else output.note(`${items.length} events were sent. Later ones: ${next}`);
}
