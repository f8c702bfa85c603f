// Forgets, every hour, the Idempotency-Keys that are older than a day.
export const forgetKeysJob =
  ({ deleteExpiredKeys: forgetKeys }: { deleteExpiredKeys: () => Promise<unknown> }) =>
  async (): Promise<void> => {
    await forgetKeys();
  };
