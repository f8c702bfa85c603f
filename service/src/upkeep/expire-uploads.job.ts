// Looks every few minutes for uploads whose time is over.
export const expireUploadsJob =
  ({ expireUploads }: { expireUploads: () => Promise<number> }) =>
  async (): Promise<void> => {
    await expireUploads();
  };
