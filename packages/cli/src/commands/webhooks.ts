// `webhooks`: the endpoints to which the service sends events. They need the service key.
import type {
  EndpointDelivery,
  UpdateEndpointRequest,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from '@mediary/client';
import { type Command, Option } from 'commander';
import { collect, parseCount } from '../arguments.ts';
import { openClient } from '../client.ts';
import type { CommandContext, Handler, Runner } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { formatFields, formatTable, formatTime } from '../text.ts';

type EventTypes = NonNullable<UpdateEndpointRequest['events']>;
type EndpointFlags = {
  readonly endpoint?: string;
  readonly event?: EventTypes;
  readonly allEvents?: boolean;
  readonly description?: string;
  readonly enable?: boolean;
  readonly disable?: boolean;
};

export function addWebhookCommands(program: Command, run: Runner): void {
  const webhooks = program
    .command('webhooks')
    .description('Manage the endpoints that receive events (service key)');
  const command = (name: string, description: string): Command =>
    webhooks.command(name).description(description);
  command('list', 'List the endpoints').action(run(listEndpoints));
  addEndpointOptions(command('create', 'Create an endpoint; prints its secret once'))
    .argument('[endpoint]', 'URL that receives the events')
    .option('--endpoint <url>', 'the same, as an option')
    .addHelpText('after', '\nExample:\n  mediary webhooks create https://app.example.com/hooks/media')
    .action(run(createEndpoint));
  addEndpointOptions(command('update', 'Change an endpoint').argument('<id>', 'id of the endpoint'))
    .option('--endpoint <url>', 'URL that receives the events')
    .option('--all-events', 'send all types of events')
    .addOption(new Option('--enable', 'send events').conflicts('disable'))
    .action(run(updateEndpoint));
  command('delete', 'Delete an endpoint').argument('<id>', 'id of the endpoint').action(run(deleteEndpoint));
  command('rotate-secret', 'Make a new secret; the old one signs too for 24 hours')
    .argument('<id>', 'id of the endpoint')
    .action(run(rotateSecret));
  command('test', 'Send a test event now').argument('<id>', 'id of the endpoint').action(run(testEndpoint));
  addDeliveryCommands(command, run);
}

function addDeliveryCommands(command: (name: string, description: string) => Command, run: Runner): void {
  command('deliveries', 'List what was sent to an endpoint, newest first')
    .argument('<id>', 'id of the endpoint')
    .addOption(new Option('--state <state>', 'only this state').choices(['pending', 'delivered', 'failed']))
    .option('--limit <count>', 'number of deliveries', parseCount)
    .action(run(listDeliveries));
  command('resend', 'Send a delivery again, or all events of a period')
    .argument('<id>', 'id of the endpoint')
    .argument('[delivery]', 'id of one delivery')
    .option('--since <time>', 'events at or after this time, ISO 8601')
    .option('--until <time>', 'events before this time, ISO 8601')
    .option('--event <type>', 'only events of this type; can be repeated', collect)
    .action(run(resend));
}

const addEndpointOptions = (command: Command): Command =>
  command
    .option('--event <type>', 'type of events to send; can be repeated; default: all', collect)
    .option('--description <text>', 'description')
    .option('--disable', 'send no events');

const openEndpoints = async (context: CommandContext) => {
  const { mediary } = await openClient(context);
  return { endpoints: mediary.webhookEndpoints, options: { signal: context.signal } };
};

const listEndpoints: Handler = async (context) => {
  const { endpoints, options } = await openEndpoints(context);
  const items: WebhookEndpoint[] = [];
  for await (const endpoint of endpoints.list({}, options)) items.push(endpoint);
  context.output.result({ items }, () =>
    formatTable(
      ['ID', 'STATUS', 'EVENTS', 'URL'],
      items.map((item) => [item.id, describeEndpoint(item), item.events.join(', ') || 'all', item.url]),
    ),
  );
};

const describeEndpoint = ({ status, paused_reason: reason }: WebhookEndpoint): string =>
  reason ? `${status}: ${reason}` : status;

const toRequest = (flags: EndpointFlags): UpdateEndpointRequest => ({
  ...(flags.endpoint !== undefined && { url: flags.endpoint }),
  ...(flags.event && { events: flags.event }),
  ...(flags.allEvents && { events: [] }),
  ...(flags.description !== undefined && { description: flags.description }),
  ...(flags.disable && { enabled: false }),
  ...(flags.enable && { enabled: true }),
});

const createEndpoint: Handler<EndpointFlags> = async (context, [named], flags) => {
  const url = named ?? flags.endpoint;
  if (url === undefined)
    throw usageError(
      'Name the URL that receives the events: mediary webhooks create https://app.example.com/hooks',
      '--url is the URL of the service.',
    );
  const { endpoints, options } = await openEndpoints(context);
  printSecret(context, await endpoints.create({ ...toRequest(flags), url }, options));
};

const rotateSecret: Handler = async (context, [id = '']) => {
  const { endpoints, options } = await openEndpoints(context);
  printSecret(context, await endpoints.rotateSecret(id, options));
};

function printSecret({ output }: CommandContext, endpoint: WebhookEndpointWithSecret): void {
  output.result(endpoint, () => `${formatEndpoint(endpoint)}\nsecret       ${endpoint.secret}`);
  output.note('The secret is not shown again.');
}

const formatEndpoint = (endpoint: WebhookEndpoint): string =>
  formatFields([
    ['id', endpoint.id],
    ['url', endpoint.url],
    ['status', describeEndpoint(endpoint)],
    ['events', endpoint.events.join(', ') || 'all'],
    ['description', endpoint.description],
  ]);

const updateEndpoint: Handler<EndpointFlags> = async (context, [id = ''], flags) => {
  const changes = toRequest(flags);
  if (Object.keys(changes).length === 0)
    throw usageError('Name what to change: mediary webhooks update --help');
  const { endpoints, options } = await openEndpoints(context);
  const endpoint = await endpoints.update(id, changes, options);
  context.output.result(endpoint, () => formatEndpoint(endpoint));
};

const deleteEndpoint: Handler = async (context, [id = '']) => {
  const { endpoints, options } = await openEndpoints(context);
  const deleted = await endpoints.delete(id, options);
  context.output.result(deleted, () => `${id}  deleted`);
};

const testEndpoint: Handler = async (context, [id = '']) => {
  const { endpoints, options } = await openEndpoints(context);
  const result = await endpoints.test(id, options);
  const { status, error, latency_ms: latency } = result.attempt;
  const outcome = status === null ? (error ?? 'no response') : `status ${status} after ${latency} ms`;
  context.output.result(result, () => `${result.delivered ? 'delivered' : 'not delivered'}: ${outcome}`);
  if (!result.delivered) throw new CliError(`The endpoint did not accept the event: ${outcome}`, EXIT.failed);
};

type DeliveryFlags = { readonly state?: EndpointDelivery['state']; readonly limit?: number };
const DEFAULT_LIMIT = 50;

const listDeliveries: Handler<DeliveryFlags> = async (context, [id = ''], flags) => {
  const { endpoints, options } = await openEndpoints(context);
  const query = { limit: flags.limit ?? DEFAULT_LIMIT, ...(flags.state && { state: flags.state }) };
  const page = await endpoints.deliveries(id, query, options).page();
  context.output.result(page, () =>
    formatTable(
      ['ID', 'CREATED', 'TYPE', 'STATE', 'ATTEMPTS', 'LAST RESULT', 'ASSET'],
      page.items.map((item) => [
        item.id,
        formatTime(item.created_at),
        item.type,
        item.state,
        item.attempts.length,
        item.attempts.at(-1)?.status ?? item.attempts.at(-1)?.error,
        item.asset_id,
      ]),
    ),
  );
};

type ResendFlags = {
  readonly since?: string;
  readonly until?: string;
  readonly event?: EventTypes;
};

const resend: Handler<ResendFlags> = async (context, [id = '', delivery], flags) => {
  const { endpoints, options } = await openEndpoints(context);
  if (delivery !== undefined) {
    const resent = await endpoints.resend(id, delivery, options);
    return context.output.result(resent, () => `${resent.id}  ${resent.state}`);
  }
  const { since, until, event } = flags;
  if (since === undefined) throw usageError('Name a delivery, or the start of a period: --since <time>');
  let scheduled = 0;
  for (let start: string | null = since; start !== null; ) {
    const part: { scheduled: number; next_since: string | null } = await endpoints.resendEvents(
      id,
      { since: start, ...(until !== undefined && { until }), ...(event && { types: event }) },
      options,
    );
    scheduled += part.scheduled;
    start = part.next_since;
  }
  context.output.result({ scheduled }, () => `${scheduled} events are sent again.`);
};
