// What the senders of all protocols have in common.
import type { SendBytes } from './send-bytes.ts';

/** The bytes of one file on their way to one target. */
export type Transfer = {
  readonly file: Blob;
  readonly filename: string;
  readonly sendBytes: SendBytes;
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
  /** Bytes of the file that are sent. */
  readonly onSent: (bytes: number) => void;
  /** URL or id of the upload at the target, from an earlier call that was interrupted. */
  readonly resumeFrom: string | undefined;
  /** Stores that URL or id. */
  readonly onResumable: (reference: string) => Promise<void>;
};
