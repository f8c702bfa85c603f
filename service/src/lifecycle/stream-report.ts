// What a provider says of a video, whatever its own words were: a webhook, an answer to a question, or a replay of either.
import type { DeliveryReason } from '@mediary/contract/enums';
import type { Failure, ProviderName, Warning } from '../assets/asset.ts';
import type { ReportedPlayback } from '../assets/playback-manifest.ts';
import type { Rendition } from '../assets/renditions.ts';

export type ReportSource = 'webhook' | 'replay' | 'inspect' | 'service';

/** Null for images, which the service makes ready by itself. */
export type StreamReport = {
  readonly source: ReportSource;
  readonly provider: ProviderName | null;
  readonly event: 'started' | 'failed' | 'succeeded';
  /** Absent: the current one. */
  readonly attempt?: number;
  readonly progress?: number;
  readonly renditions?: readonly Rendition[];
  readonly playback?: ReportedPlayback;
  /** Whether a `ready` is the last word, or more rungs are coming; absent: it is. */
  readonly complete?: boolean;
  readonly failure?: Failure;
  /** The provider's own code for what went wrong, for the timeline. */
  readonly providerCode?: string;
  readonly warnings?: readonly Warning[];
  readonly picture?: {
    readonly width?: number;
    readonly height?: number;
    readonly durationMs?: number;
    readonly placeholder?: string;
  };
};

/** Why a delivery had its effect, or none (B6). */
export type Reason = DeliveryReason;
