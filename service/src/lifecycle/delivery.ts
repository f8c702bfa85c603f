// A webhook delivery as it is kept: what came, and what became of it.
import type { ProviderName } from '../assets/asset.ts';
import type { Reason } from './stream-report.ts';

/** As it came: raw bytes, and headers less secrets. */
export type Delivery = {
  readonly id: string;
  readonly provider: ProviderName;
  readonly providerVideoId: string | null;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly receivedAt: Date;
  /** Signed by our own encoder: its body points to renditions of ours. */
  readonly isOurs: boolean;
};

export type Outcome = { readonly processed: boolean; readonly reason: Reason };
