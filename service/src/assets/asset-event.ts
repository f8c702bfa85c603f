// The rows that tell what happened to an asset: timeline, live events and outgoing webhooks read them (contract B8).

export type EventType =
  | 'asset.created'
  | 'asset.uploaded'
  | 'asset.processing'
  | 'asset.playable'
  | 'asset.progress'
  | 'asset.ready'
  | 'asset.failed'
  | 'asset.updated'
  | 'asset.deleted'
  | 'asset.restored'
  /** The sweep looked, or a provider could not be reached: of the timeline alone, never told to others. */
  | 'asset.checked';

export type EventData = Readonly<Record<string, unknown>>;
export type NewEvent = { readonly type: EventType; readonly data: EventData };

export const newEvent = (type: EventType, data: EventData = {}): NewEvent => ({ type, data });
