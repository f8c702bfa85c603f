// Removes for good, every hour, what has been in the trash for TRASH_DAYS.
export const emptyTrashJob =
  ({ emptyTrash }: { emptyTrash: () => Promise<number> }) =>
  async (): Promise<void> => {
    await emptyTrash();
  };
