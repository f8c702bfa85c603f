// Deletes many rows in statements that stay within the statement timeout.

const BATCH = 5000;

/** `deleteBatch` deletes at most `limit` rows and returns their number. Returns the number of all. */
export async function deleteInBatches(
  deleteBatch: (limit: number) => Promise<number>,
  limit = BATCH,
): Promise<number> {
  let total = 0;
  for (;;) {
    const deleted = await deleteBatch(limit);
    total += deleted;
    if (deleted < limit) return total;
  }
}
