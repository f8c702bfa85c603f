// The port behind which somebody streams videos: our own encoder, an operator's, or a hosted product (design §5).
import type { Asset, AssetRef, ProviderName } from '../assets/asset.ts';
import type { Reason, StreamReport } from '../assets/stream-report.ts';
import type { HeaderValues } from '../auth/signature.ts';
import type { StartJob } from '../job-list.ts';

/** A webhook as it came: nothing parsed, nothing inflated. */
export type Incoming = { readonly headers: HeaderValues; readonly body: Uint8Array; readonly now: Date };

/** What a body says: a report on a video, or nothing that can be acted on. */
export type Reading = { readonly report: StreamReport; readonly ref: AssetRef } | { readonly reason: Extract<Reason, 'not_actionable' | 'wrong_library'> };

/** The message of the 401. */
export type Refusal = { readonly refused: 'not configured' | 'Invalid webhook signature' | 'Invalid webhook payload' };

export type Provider = {
  readonly name: ProviderName;
  /** Whether it can be asked to take a new video as it is configured. */
  readonly takesUploads: boolean;
  /** Configured? Signature? JSON? Then what it says. */
  open(incoming: Incoming): Reading | Refusal;
  /** What a body says that was verified before. */
  read(body: Uint8Array): Reading;
  /** The job that goes on once the bytes are there; undefined where the provider starts by itself. */
  startJob(asset: Asset): StartJob | undefined;
};
