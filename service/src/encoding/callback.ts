// The port by which the encoder tells the service what became of a video: the onprem door, wherever the service runs.

/** What the door said: whether the report moved the asset. */
export type CallbackResult = { readonly processed: boolean };

export type Callback = {
  /** Delivers a body as it is, signed. Fails where it was not taken: deliver it again. */
  deliver(body: string, signal: AbortSignal): Promise<CallbackResult>;
};
