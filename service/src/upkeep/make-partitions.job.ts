// Makes coming partitions every day, long before they are needed.
export const makePartitionsJob = ({ makePartitions }: { makePartitions: () => Promise<number> }) => async (): Promise<void> => {
  await makePartitions();
};
