// `listen`: sends live events to a server of the developer as signed webhooks, without an endpoint of the
// service, so that a laptop without a public address receives them.
import type { Command } from 'commander';
import type { Handler, Runner } from '../../context.ts';
import { openEventStream } from '../../events/event-stream.ts';
import {
  chooseSecret,
  collectEventType,
  createForwarder,
  formatForwarded,
  parseEndpoint,
  parseSecret,
  RETRY_DELAYS_MS,
} from './forwarding.ts';

type ListenFlags = {
  readonly forwardTo: string;
  readonly secret?: string;
  readonly event?: readonly string[];
  readonly since?: string;
};

export const addListenCommand = (program: Command, run: Runner): Command =>
  program
    .command('listen')
    .description('Send live events to your server as signed webhooks, such as to one on your machine')
    .requiredOption('--forward-to <url>', 'URL of your server that receives the webhooks', parseEndpoint)
    .option('--secret <secret>', 'secret that signs (whsec_…); else a new one is printed', parseSecret)
    .option('--event <type>', 'only events of this type; may be repeated', collectEventType)
    .option('--since <position>', 'continue after this position, or from the `beginning` of what is stored')
    .addHelpText('after', '\nExample:\n  mediary listen --forward-to http://localhost:3000/webhooks/media')
    .action(run(listen));

const listen: Handler<ListenFlags> = async (context, _args, flags) => {
  const { output, signal } = context;
  const secret = chooseSecret(flags.secret, context);
  const endpoint = flags.forwardTo;
  output.note(`Events go to ${endpoint}. Ctrl-C ends.`);
  const forward = createForwarder({ endpoint, secret, signal, retryDelaysMs: RETRY_DELAYS_MS }, (forwarded) =>
    output.item(forwarded, () => formatForwarded(forwarded)),
  );
  let position = flags.since;
  try {
    for await (const event of await openEventStream(context, flags.since)) {
      ({ position } = event);
      if (flags.event === undefined || flags.event.includes(event.type)) await forward(event);
    }
  } finally {
    if (position !== undefined)
      output.note(`Continue: mediary listen --forward-to ${endpoint} --since ${position}`);
  }
};
