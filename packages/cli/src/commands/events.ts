// `events`: live events as they happen; `events replay` sends stored ones again.
import type { StreamedEvent } from '@mediary/client';
import type { Command } from 'commander';
import { describeStatus } from '../asset-text.ts';
import type { Handler, Runner } from '../context.ts';
import { openEventStream } from '../events/event-stream.ts';
import { formatTime, toPlain } from '../text.ts';
import { addReplayEventsCommand } from './develop/replay-events.ts';

export function addEventsCommand(program: Command, run: Runner): void {
  const events = program
    .command('events')
    .description('Print live events of the owner, with the service key of all owners or of --owner')
    .option('--since <position>', 'continue after this position, or from the `beginning` of what is stored')
    .action(run(printEvents));
  addReplayEventsCommand(events, run);
}

const printEvents: Handler<{ readonly since?: string }> = async (context, _args, { since }) => {
  const events = await openEventStream(context, since);
  let position = since;
  try {
    for await (const event of events) {
      ({ position } = event);
      context.output.item(event, () => formatEvent(event));
    }
  } finally {
    if (position !== undefined) context.output.note(`Continue: mediary events --since ${position}`);
  }
};

/** The asset of a deleted one is null. */
export const formatEvent = ({ at, type, asset, asset_id: id }: StreamedEvent): string =>
  [
    formatTime(at),
    type.padEnd(16),
    id,
    (asset ? describeStatus(asset) : 'deleted').padEnd(15),
    toPlain(asset?.filename ?? ''),
  ]
    .join('  ')
    .trimEnd();
