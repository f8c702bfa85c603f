// The rows that tell what happened to an asset: timeline, live events and outgoing webhooks read them (contract B8).
import type { EventType } from '@mediary/contract/enums';

export type EventData = Readonly<Record<string, unknown>>;
export type NewEvent = { readonly type: EventType; readonly data: EventData };

export const newEvent = (type: EventType, data: EventData = {}): NewEvent => ({ type, data });
