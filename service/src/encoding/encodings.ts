// Begins and ends the encoder's runs: a run that was overtaken can neither publish nor report.
import type { ServiceJobs } from '../job-list.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { EncoderReport } from './encoder-report.ts';
import { beginRun, markEncoded, uncountRun } from './encodings.sql.ts';

export type EncodingNeeds = { readonly db: Database; readonly jobs: ServiceJobs };

/** One worker's run at one attempt. */
export type Run = { readonly assetId: string; readonly attempt: number; readonly try: number; readonly mimeType: string };

/** undefined: there is nothing to encode any more. */
export async function begin({ db }: EncodingNeeds, { assetId, attempt }: { assetId: string; attempt: number }): Promise<Run | undefined> {
  const begun = await beginRun(db, assetId, attempt);
  return begun && { assetId, attempt, try: begun.encode_try, mimeType: begun.mime_type };
}

/** Hands the final report to a job of its own, so that it can be delivered again without encoding again; false where the run was overtaken. */
export const finish = ({ db, jobs }: EncodingNeeds, run: Run, report: EncoderReport): Promise<boolean> =>
  db.transaction(async (tx) => {
    if (!(await markEncoded(tx, run))) return false;
    await jobs.send(tx, 'deliver-report', { assetId: run.assetId, body: JSON.stringify(report) });
    return true;
  });

/** A run that ended because its process was told to stop is no failure, however often that happens. */
export const handBack = async ({ db }: EncodingNeeds, run: Run): Promise<void> => { await uncountRun(db, run); };
