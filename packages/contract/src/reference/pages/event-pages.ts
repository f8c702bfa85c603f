// Pages about collections, events and webhooks.
import type { ReferencePage } from './reference-page.ts';

export const EVENT_PAGES: readonly ReferencePage[] = [
  {
    name: 'collections',
    title: 'Collections',
    about: 'A collection is a named, ordered list of assets of one owner.',
    links: { Contract: 'contract/collections.md', Guide: 'guides/collections.md' },
    operations: [
      'createCollection',
      'listCollections',
      'getCollection',
      'updateCollection',
      'deleteCollection',
    ],
  },
  {
    name: 'collection-items',
    title: 'Assets of a collection',
    about: 'The assets of a collection have an order, and a playlist for players.',
    links: { Contract: 'contract/collections.md', Guide: 'guides/collections.md' },
    operations: [
      'listCollectionItems',
      'addCollectionItems',
      'moveCollectionItem',
      'removeCollectionItem',
      'getPlaylist',
    ],
  },
  {
    name: 'events',
    title: 'Events',
    about: 'An event stream tells what happens to assets while it happens.',
    links: { Contract: 'contract/events.md', Guide: 'guides/live-events.md' },
    operations: ['streamEvents', 'streamAssetEvents', 'createEventTicket'],
  },
  {
    name: 'webhook-endpoints',
    title: 'Webhook endpoints',
    about: 'A webhook endpoint is a URL of yours to which the service sends events.',
    links: { Contract: 'contract/webhook-endpoints.md', Guide: 'guides/outbound-webhooks.md' },
    operations: [
      'createWebhookEndpoint',
      'listWebhookEndpoints',
      'getWebhookEndpoint',
      'updateWebhookEndpoint',
      'deleteWebhookEndpoint',
      'rotateEndpointSecret',
    ],
  },
  {
    name: 'webhook-deliveries',
    title: 'Deliveries to endpoints',
    about: 'A delivery is one event that the service sends to one endpoint.',
    links: { Contract: 'contract/webhook-endpoints.md', Guide: 'guides/outbound-webhooks.md' },
    operations: [
      'testWebhookEndpoint',
      'listEndpointDeliveries',
      'resendEndpointDelivery',
      'resendEndpointEvents',
    ],
  },
];
