// Looks every minute at what is waited for and overdue.
export const reconcileJob =
  ({ reconcile }: { reconcile: () => Promise<number> }) =>
  async (): Promise<void> => {
    await reconcile();
  };
