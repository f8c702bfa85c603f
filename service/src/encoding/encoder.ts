// The port behind which a video file becomes CMAF renditions with HLS and DASH manifests, in a folder of its own.
import type { RenditionState } from '@mediary/contract/enums';
import type { Warning } from '../assets/asset.ts';
import type { Container } from '../media/probe.ts';

/** One rung as callers see it (contract B1). `bitrate` is the average in bits per second, null until known. */
export type Rendition = {
  readonly height: number;
  readonly width?: number;
  readonly state: RenditionState;
  readonly bitrate?: number | null;
};

export type EncodeOrder = {
  /** Path of the original, read only. */
  readonly source: string;
  readonly container: Container;
  /** An empty folder that belongs to this run; all output and scratch lies below it. */
  readonly workFolder: string;
  /** How the multivariant manifests name the folder of their children, e.g. `1-1`. */
  readonly childFolder: string;
  /** Of which time a picture is wanted, beside the thumbnail that the encoder chooses. */
  readonly posterTimeMs?: number | null;
  /** Ends the run at once; the promise rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Called as often as the engine tells; percent 0–99. Must not throw. */
  readonly onProgress: (percent: number, renditions: readonly Rendition[]) => void;
};

export type PosterOrder = {
  /** Path of an init and the one segment that shows the time; its clock is the film's. */
  readonly excerpt: string;
  /** A time past the end is the last picture. */
  readonly timeMs: number;
  /** Path of the JPEG to be written. */
  readonly picture: string;
  readonly signal: AbortSignal;
};

/** A file to be stored beside the others; names fit `object-key`. */
export type EncodedFile = { readonly name: string; readonly path: string };

export type Encoding = {
  readonly files: readonly EncodedFile[];
  readonly renditions: readonly Rendition[];
  /** As shown: rotation and pixel aspect applied. */
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
  /** What the renditions lack of the source. */
  readonly warnings: readonly Warning[];
};

/** The file cannot be encoded, now or later. `message` is for callers; `log` (the engine's last words) for operators alone. */
export class EncodeFailed extends Error {
  readonly code: string;
  /** Private, so that nothing that prints or stores an error takes it along. */
  readonly #log: string;
  constructor(code: string, message: string, log = '') {
    super(message);
    this.code = code;
    this.#log = log;
  }
  get log(): string {
    return this.#log;
  }
}

export type Encoder = {
  /** Makes every file and checks it against the source. Throws EncodeFailed for what is wrong with the source. */
  encode(order: EncodeOrder): Promise<Encoding>;
  /** Makes one picture of a film that was encoded here. */
  makePoster(order: PosterOrder): Promise<void>;
};
