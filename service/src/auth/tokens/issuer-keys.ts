// Port: the public keys of an identity provider, which verify the signatures of its access tokens.
export type IssuerKeys = {
  /**
   * Returns the payload of a token with one of ISSUER_ALGORITHMS, or why it is invalid. Throws UNAVAILABLE
   * when the keys that decide could not be fetched.
   */
  readonly verify: (token: string) => Promise<Uint8Array | 'bad_signature' | 'unknown_key'>;
};
