// The hosted video provider whose wire format is Bunny Stream's.
import { type Secret, secret } from '../../auth/secret.ts';
import type { Settings } from '../../platform/settings.ts';
import { openWith } from '../opening.ts';
import type { Provider } from '../provider.ts';
import { type CdnhostPlaces, readCdnhost } from './cdnhost-report.ts';
import { checkCdnhostSignature } from './cdnhost-signature.ts';

export type CdnhostSettings = CdnhostPlaces & { readonly webhookSecrets: readonly Secret[] };

export const readCdnhostSettings = (settings: Settings): CdnhostSettings => ({
  webhookSecrets: settings.rotating('CDNHOST_STREAM_READ_ONLY_API_KEY').map(secret),
  libraryId: settings.text('CDNHOST_STREAM_LIBRARY_ID'),
  hostname: settings.text('CDNHOST_STREAM_HOSTNAME'),
});

export const openCdnhost = ({ webhookSecrets, ...places }: CdnhostSettings): Provider => ({
  name: 'cdnhost',
  takesUploads: false,
  open: ({ headers, body }) => openWith({
    secrets: webhookSecrets, allowUnsigned: false,
    verify: () => checkCdnhostSignature(headers, body, webhookSecrets),
    read: () => readCdnhost(body, places),
  }),
  read: (body) => readCdnhost(body, places),
  startJob: () => undefined,
});
