// The operator's own encoder as the service sees it.
import type { Asset } from '../assets/asset.ts';

/** An encoder that takes jobs over HTTP and reports through the webhook. */
export type EncoderApi = {
  readonly url: string;
  /** After this time without a report, the service asks for the job again. */
  readonly heartbeatMs: number;
  /** Can be repeated. Throws when the request must be retried. */
  start(order: EncodeOrder): Promise<EncoderAnswer>;
  /** Does nothing when the encoder does not know the job. Throws when the request must be retried. */
  cancel(job: EncoderJob): Promise<void>;
  /** The status of a HEAD request; undefined when the encoder cannot be reached. */
  check(): Promise<number | undefined>;
};

/** `jobUrl`: where the encoder shows the job, if it returned one. `refused`: the reason, for people. */
export type EncoderAnswer = { readonly jobUrl: string | null } | { readonly refused: string };

type EncoderJob = { readonly assetId: string; readonly attempt: number; readonly jobUrl: string };

export type EncodeOrder = {
  readonly asset: Pick<
    Asset,
    'id' | 'attempt' | 'mime_type' | 'size_bytes' | 'checksum_sha256' | 'duration_ms' | 'width' | 'height'
  >;
  readonly sourceUrl: string;
  readonly callbackUrl: string;
  readonly deadline: Date;
};
