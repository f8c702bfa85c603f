// The seed of a long random test: another one each time, said at the start, and given again by MEDIARY_SEED.

/** A whole number; further properties of one file add to it. */
export const SEED = Number(process.env['MEDIARY_SEED'] ?? Date.now() % 2 ** 31);
if (!Number.isSafeInteger(SEED)) throw new Error('MEDIARY_SEED must be a whole number');

process.stdout.write(`MEDIARY_SEED=${SEED}\n`);
