// Port for delivering the encoder's reports to the onprem webhook.

/** `processed`: whether the report changed the asset. */
export type CallbackResult = { readonly processed: boolean };

export type Callback = {
  /** Delivers a signed body unchanged. Throws when the report was not accepted and must be retried. */
  deliver(body: string, signal: AbortSignal): Promise<CallbackResult>;
};
