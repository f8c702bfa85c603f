// The events that `events` and `listen` follow.
import type { StreamedEvent } from '@mediary/client';
import { openClient } from '../client.ts';
import type { CommandContext } from '../context.ts';

/** Without --owner, a service key receives the events of all owners. `since`: where to continue. */
export async function openEventStream(
  context: CommandContext,
  since: string | undefined,
): Promise<AsyncIterable<StreamedEvent>> {
  const { mediary } = await openClient(context);
  const { credential } = await context.loadSettings();
  const owner = credential?.kind === 'service key' ? context.flags.owner : undefined;
  return mediary.events.stream({
    signal: context.signal,
    ...(owner !== undefined && { ownerUserId: owner }),
    ...(since !== undefined && { lastEventId: since }),
  });
}
