// Forgets, every hour, the Idempotency-Keys that are older than a day.
export const forgetKeysJob =
  ({ forgetKeys }: { forgetKeys: () => Promise<unknown> }) =>
  async (): Promise<void> => {
    await forgetKeys();
  };
