// A provider's report on a video, and the webhook delivery that carried it.
import type { DeliveryReason } from '@mediary/contract/enums';
import type { Chapter } from '@mediary/contract/schemas/assets/chapters';
import type { AssetMedia } from '@mediary/contract/schemas/assets/asset-media';
import type { Failure, ProviderName, Warning } from '../../assets/asset.ts';
import type { ReportedPlayback } from '../../assets/playback-manifest.ts';
import type { Rendition } from '../../assets/renditions.ts';

/** `inspect`: a response of the provider's API. `service`: the service processed the asset itself. */
type ReportSource = 'webhook' | 'replay' | 'inspect' | 'service';

/** An audio track of the original that the renditions contain. */
export type AudioFacts = {
  /** BCP 47. */
  readonly language: string | null;
  readonly name: string;
  readonly codec: string;
  readonly channels: number | null;
  readonly default: boolean;
  /**
   * Measured on the stereo mix before the gain (EBU R128); null for silence, and for tracks that are not
   * measured.
   */
  readonly loudness_lufs: number | null;
  readonly true_peak_dbtp: number | null;
  /** Applied to the renditions; null: the sound stays as it is. */
  readonly gain_db: number | null;
};

/** The video stream of the original that the renditions show. */
export type VideoFacts = NonNullable<AssetMedia['video']>;

export type StreamReport = {
  readonly source: ReportSource;
  /** Null for images, which the service processes itself. */
  readonly provider: ProviderName | null;
  readonly event: 'started' | 'failed' | 'succeeded';
  /** Absent: the current attempt. */
  readonly attempt?: number;
  readonly progress?: number;
  readonly renditions?: readonly Rendition[];
  readonly playback?: ReportedPlayback;
  /** False when further renditions follow `succeeded`; absent: true. */
  readonly complete?: boolean;
  readonly failure?: Failure;
  /** The provider's own error code, for the timeline. */
  readonly providerCode?: string;
  readonly warnings?: readonly Warning[];
  readonly media?: {
    readonly sizeBytes?: number;
    readonly width?: number;
    readonly height?: number;
    readonly durationMs?: number;
    readonly placeholder?: string;
    /** The container of the original; `video` and `audio` are set with it. */
    readonly container?: string;
    readonly video?: VideoFacts;
    readonly audio?: readonly AudioFacts[];
    readonly photo?: AssetMedia['photo'];
    /** Those of the file. */
    readonly chapters?: Chapter[];
  };
};

/** True when no rendition follows: `succeeded` may come before the last one. */
export const hasAllRenditions = ({ event, complete }: Pick<StreamReport, 'event' | 'complete'>): boolean =>
  event === 'succeeded' && complete !== false;

/** A verified webhook request: the raw bytes, and the headers without secrets. */
export type Delivery = {
  readonly id: string;
  readonly provider: ProviderName;
  readonly providerVideoId: string | null;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly receivedAt: Date;
  /** Signed by our own encoder: the body refers to renditions in our store. */
  readonly isOwnEncoder: boolean;
};

/** The effect of a report on its asset (contract B6). */
export type DeliveryOutcome = { readonly processed: boolean; readonly reason: DeliveryReason };
