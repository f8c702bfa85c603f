// `trigger`: sends one signed sample event to a server of the developer, or makes the service produce it.
import type { PublishedEventType } from '@mediary/client';
import { Argument, type Command, Option } from 'commander';
import { parseWait } from '../../arguments.ts';
import { openClient } from '../../client.ts';
import type { CommandContext, Handler, Runner } from '../../context.ts';
import { CliError, EXIT, usageError } from '../../exit-codes.ts';
import { createSampleEvent, EVENT_TYPES, SAMPLE_EVENTS } from '../../events/sample-event.ts';
import { forwardEvent } from '../../events/webhook-forwarder.ts';
import { isLoopbackUrl } from '@mediary/checks/connection';
import { formatTable } from '../../text.ts';
import { formatEvent } from '../events.ts';
import {
  chooseSecret,
  describeResult,
  findSecret,
  formatForwarded,
  parseEndpoint,
  parseSecret,
} from './forwarding.ts';
import { isProducible, PRODUCIBLE, produceEvent } from './produce-event.ts';

type TriggerFlags = {
  readonly list?: boolean;
  readonly to?: string;
  readonly endpoint?: string;
  readonly secret?: string;
  readonly assetId?: string;
  readonly externalId?: string;
  readonly real?: boolean;
  readonly allowRemote?: boolean;
  readonly timeout?: number;
};

/** They have no meaning with --list. */
const FLAGS_OF_EVENTS = 'to endpoint secret assetId externalId real allowRemote timeout'.split(' ');
const DEFAULT_TIMEOUT_S = 60;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const EXAMPLES = `
Examples:
  mediary trigger --list
  mediary trigger asset.ready --to http://localhost:3000/webhooks/media
  mediary trigger asset.failed --real       the service itself fails an upload, and sends the event`;

export const addTriggerCommand = (program: Command, run: Runner): Command =>
  program
    .command('trigger')
    .description('Send one signed sample event to your server, or make the service produce it')
    .addArgument(new Argument('[event-type]', 'type of the event').choices(EVENT_TYPES))
    .addOption(new Option('--list', 'print the types with a sentence each').conflicts(FLAGS_OF_EVENTS))
    .option('--to <url>', 'URL of your server that receives the sample', parseEndpoint)
    .addOption(
      new Option('--endpoint <id>', 'send the sample to the URL of this webhook endpoint').conflicts('to'),
    )
    .option('--secret <secret>', 'secret that signs (whsec_…); else a new one is printed', parseSecret)
    .option('--asset-id <id>', 'id of the asset in the sample; default: a new one')
    .option('--external-id <id>', 'your own id of the asset')
    .addOption(
      new Option('--real', 'upload a small sample, so that the service produces the event').conflicts([
        'to',
        'endpoint',
        'secret',
        'assetId',
      ]),
    )
    .option('--allow-remote', 'with --real: also on a service that is not on this machine')
    .option('--timeout <duration>', 'with --real: the longest wait; default: 60s', parseWait)
    .addHelpText('after', EXAMPLES)
    .action(run(trigger));

const trigger: Handler<TriggerFlags> = async (context, [name], flags) => {
  const type = EVENT_TYPES.find((known) => known === name);
  if (flags.list) {
    if (type) throw usageError('--list prints all types. Leave the event type out.');
    return listTypes(context);
  }
  if (!type) throw usageError('Name the type of the event. Types: mediary trigger --list');
  if (flags.real) return triggerReal(context, type, flags);
  if (flags.allowRemote !== undefined) throw usageError('--allow-remote needs --real.');
  if (flags.timeout !== undefined) throw usageError('--timeout needs --real.');
  await sendSample(context, type, flags);
};

function listTypes({ output }: CommandContext): void {
  const items = SAMPLE_EVENTS.map(({ description, event: { type } }) => ({
    type,
    description,
    real: isProducible(type),
  }));
  output.result({ items }, () =>
    formatTable(
      ['TYPE', '--real', 'SENT WHEN'],
      items.map((item) => [item.type, item.real ? 'yes' : 'no', item.description]),
    ),
  );
}

async function sendSample(
  context: CommandContext,
  type: PublishedEventType,
  flags: TriggerFlags,
): Promise<void> {
  const { output, signal } = context;
  if (flags.assetId !== undefined && !UUID.test(flags.assetId))
    throw usageError('--asset-id is no UUID, and assets have no other ids.', 'Your own id: --external-id');
  const endpoint = await findTarget(context, type, flags);
  const secret = chooseSecret(flags.secret, context);
  const event = createSampleEvent(type, {
    assetId: flags.assetId,
    externalId: flags.externalId,
    owner: context.flags.owner,
    now: new Date(),
  });
  const forwarded = await forwardEvent(event, { endpoint, secret, signal, retryDelaysMs: [] });
  output.result(forwarded, () => formatForwarded(forwarded));
  if (!forwarded.accepted)
    throw new CliError(`${endpoint} did not accept the event: ${describeResult(forwarded)}`, EXIT.failed);
}

/** The service never shows the secret of an endpoint again, so that --secret has to name it. */
async function findTarget(
  context: CommandContext,
  type: PublishedEventType,
  { to, endpoint: id, secret: given }: TriggerFlags,
): Promise<string> {
  if (to !== undefined) return to;
  if (id === undefined)
    throw usageError(
      'Name the receiver: --to <url>, or --endpoint <id>.',
      `Or let the service produce the event: mediary trigger ${type} --real`,
    );
  if (findSecret(given, context.io) === undefined)
    throw usageError(
      'With --endpoint, set MEDIARY_WEBHOOK_SECRET or --secret: the server of the endpoint verifies with it.',
      `A new secret: mediary webhooks rotate-secret ${id}`,
    );
  const { mediary } = await openClient(context);
  for await (const { id: found, url } of mediary.webhookEndpoints.list({}, { signal: context.signal }))
    if (found === id) return url;
  throw new CliError(`There is no endpoint ${id}.`, EXIT.notFound, 'Endpoints: mediary webhooks list');
}

async function triggerReal(
  context: CommandContext,
  type: PublishedEventType,
  { externalId, allowRemote, timeout = DEFAULT_TIMEOUT_S }: TriggerFlags,
): Promise<void> {
  if (!isProducible(type))
    throw usageError(
      `--real cannot produce ${type}: it needs the encode of a long video.`,
      `--real produces ${PRODUCIBLE.join(', ')}. A sample of ${type}: mediary trigger ${type} --to <url>`,
    );
  const { url } = await context.loadSettings();
  if (!isLoopbackUrl(url) && !allowRemote)
    throw usageError(
      `--real creates an asset, and ${url} is not on this machine.`,
      'If it is a service for development: --allow-remote',
    );
  const client = await openClient(context);
  const event = await produceEvent(client, type, { externalId, timeoutS: timeout });
  context.output.result(event, () => formatEvent(event));
  context.output.note(`The asset stays. Remove it: mediary rm ${event.asset_id}`);
}
