// Pages about what operators call.
import type { ReferencePage } from './reference-page.ts';

const OPERATORS = { Contract: 'contract/operators.md', Guide: 'guides/operators.md' };

export const OPERATOR_PAGES: readonly ReferencePage[] = [
  {
    name: 'service-keys',
    title: 'Service keys',
    about: 'A named service key lets one back end call the API, within scopes and owners.',
    links: { Contract: 'contract/authentication.md', Guide: 'guides/service-keys.md' },
    operations: [
      'createServiceKey',
      'listServiceKeys',
      'getServiceKey',
      'updateServiceKey',
      'rotateServiceKey',
      'revokeServiceKey',
    ],
  },
  {
    name: 'owners',
    title: 'Owners and quotas',
    about: 'An owner is the user to whom assets belong; an operator can set its quotas.',
    links: { Contract: 'contract/owners.md', Quotas: 'contract/limits.md' },
    operations: ['listOwners', 'getOwner', 'getOwnerLimits', 'setOwnerLimits', 'removeOwnerLimits'],
  },
  {
    name: 'owner-archives',
    title: 'Archives of an owner',
    about: 'An archive has all assets of one owner, for a backup or for another service.',
    links: { Contract: 'contract/owners.md', Guide: 'guides/owners.md' },
    operations: ['exportOwner', 'importOwner'],
  },
  {
    name: 'erasures',
    title: 'Erasures',
    about: 'An erasure removes all data of one owner, and proves it with a signed receipt.',
    links: { Contract: 'contract/owners.md', Guide: 'guides/owners.md' },
    operations: ['eraseOwner', 'getErasure', 'getErasureReceipt', 'listReceiptKeys'],
  },
  {
    name: 'adoptions',
    title: 'Adoptions',
    about: 'A file that lies beside the objects of the service becomes an asset without an upload.',
    links: { Contract: 'contract/operators.md', Guide: 'guides/migrate.md' },
    operations: ['adoptObject'],
  },
  {
    name: 'all-assets',
    title: 'Assets of all owners',
    about: 'An operator sees the assets of all owners.',
    links: OPERATORS,
    operations: ['listAllAssets', 'countAssets'],
  },
  {
    name: 'providers',
    title: 'Providers and CDN',
    about: 'Providers encode and stream videos; a CDN caches what the service delivers.',
    links: OPERATORS,
    operations: ['listProviders', 'listCdnPurges'],
  },
  {
    name: 'deliveries',
    title: 'Deliveries of providers',
    about: 'The service records each webhook of a provider, and can replay it.',
    links: { ...OPERATORS, Webhooks: 'contract/webhooks.md' },
    operations: ['listDeliveries', 'getDelivery', 'replayDeliveries'],
  },
  {
    name: 'jobs',
    title: 'Jobs',
    about: 'Jobs are the work that the service does after it has sent a response.',
    links: OPERATORS,
    operations: ['listQueues', 'listJobs', 'getJob', 'runJobAgain', 'cancelJob'],
  },
  {
    name: 'workers',
    title: 'Workers and encodes',
    about: 'Workers run jobs and encode videos.',
    links: OPERATORS,
    operations: ['listWorkers', 'drainWorker', 'listEncodes', 'cancelEncode'],
  },
  {
    name: 'storage-checks',
    title: 'Storage checks',
    about: 'A storage check compares the object store with the database.',
    links: { ...OPERATORS, Backup: 'guides/backup.md' },
    operations: [
      'startStorageCheck',
      'listStorageChecks',
      'getStorageCheck',
      'listStorageFindings',
      'cancelStorageCheck',
    ],
  },
  {
    name: 'diagnostics',
    title: 'Diagnostics',
    about: 'Diagnostics check the deployment, and the proxies in front of it.',
    links: { ...OPERATORS, Production: 'guides/going-to-production.md' },
    operations: ['getDiagnostics', 'echoRequest', 'echoUpload', 'streamDiagnostics', 'streamDownload'],
  },
  {
    name: 'console-sessions',
    title: 'Console sessions',
    about: 'A session is how a person signs in to the console.',
    links: { Guide: 'guides/console.md' },
    operations: ['createConsoleSession', 'getConsoleSession', 'endConsoleSession', 'createSignInLink'],
  },
  {
    name: 'health',
    title: 'Health and metrics',
    about: 'Load balancers and monitoring call these operations.',
    links: { ...OPERATORS, Runbooks: 'runbooks.md' },
    operations: ['getHealth', 'getReadiness', 'getMetrics', 'listSamples'],
  },
];
