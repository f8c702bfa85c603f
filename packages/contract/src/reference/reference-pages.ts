// The pages of the reference, in the order of use.
import { ASSET_PAGES, UPLOAD_PAGES } from './pages/asset-pages.ts';
import { EVENT_PAGES } from './pages/event-pages.ts';
import { OPERATOR_PAGES } from './pages/operator-pages.ts';
import { PLAYBACK_PAGES } from './pages/playback-pages.ts';
import type { ReferencePage } from './pages/reference-page.ts';

export type ReferenceGroup = { readonly title: string; readonly pages: readonly ReferencePage[] };

export const REFERENCE_GROUPS: readonly ReferenceGroup[] = [
  { title: 'Upload', pages: UPLOAD_PAGES },
  { title: 'Assets', pages: ASSET_PAGES },
  { title: 'Play', pages: PLAYBACK_PAGES },
  { title: 'Collections and events', pages: EVENT_PAGES },
  { title: 'Operators', pages: OPERATOR_PAGES },
];
