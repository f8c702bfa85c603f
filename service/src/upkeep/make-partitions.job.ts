// Makes coming partitions every hour, since not every machine runs at night, and long before they are needed.
export const makePartitionsJob = ({ makePartitions }: { makePartitions: () => Promise<number> }) => async (): Promise<void> => {
  await makePartitions();
};
