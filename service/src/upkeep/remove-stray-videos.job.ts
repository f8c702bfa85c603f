// Looks every hour for videos at hosted providers that no asset is linked to.
export const removeStrayVideosJob =
  ({ removeOrphanedVideos: removeStrayVideos }: { removeOrphanedVideos: () => Promise<void> }) =>
  async (): Promise<void> => {
    await removeStrayVideos();
  };
