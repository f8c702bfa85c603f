// Looks every hour after the months of events and deliveries: those to come, and those whose time is over.
type Partitions = { makePartitions(): Promise<number>; dropDeliveries(): Promise<number> };

export const makePartitionsJob =
  ({ makePartitions, dropDeliveries }: Partitions) =>
  async (): Promise<void> => {
    await makePartitions();
    await dropDeliveries();
  };
