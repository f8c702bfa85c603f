// The seed of a random test: new for each run, printed at start, set by MEDIARY_SEED to repeat a run.

/** A whole number; further properties of one file add to it. */
export const SEED = Number(process.env['MEDIARY_SEED'] ?? Date.now() % 2 ** 31);
if (!Number.isSafeInteger(SEED)) throw new Error('MEDIARY_SEED must be a whole number');

process.stdout.write(`MEDIARY_SEED=${SEED}\n`);
