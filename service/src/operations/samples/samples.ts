// The series of samples that operators ask for (contract B9).
import { SAMPLE_NAMES, type SampleList, type SampleName } from '@mediary/contract/schemas/admin/samples';
import { badRequest } from '../../platform/http/errors.ts';
import type { OperationsContext } from '../context.ts';
import { joinProcesses, type ProcessSample, type StateSample, toSeriesValues } from './sample-values.ts';
import { deleteSamplesOlderThan, listLatestSamples, listSampleRows } from './samples.sql.ts';

export async function deleteOldSamples({ db, settings }: OperationsContext): Promise<void> {
  await deleteSamplesOlderThan(db, settings.sampleRetentionHours);
}

type SampleQuery = {
  readonly names?: string;
  readonly created_after?: string;
  readonly step_s?: number;
  readonly host?: string;
};

const HOUR_MS = 3_600_000;
const MAX_ENTRIES = 1500;

export async function listSamples(
  { db, now }: OperationsContext,
  { names, created_after: since, step_s: stepS = 60, host }: SampleQuery,
): Promise<SampleList> {
  const wanted = parseNames(names);
  const stepMs = stepS * 1000;
  const sinceMs = parseSince(since, now());
  const first = Math.floor(sinceMs / stepMs) * stepMs;
  if ((now().getTime() - first) / stepMs > MAX_ENTRIES)
    throw badRequest(`created_after and step_s name more than ${MAX_ENTRIES} entries. Use a larger step_s.`, {
      field: 'step_s',
      limit: MAX_ENTRIES,
    });
  const steps = new Map<number, Minute[]>();
  for (const minute of await readMinutes(db, new Date(first), host)) {
    const start = Math.floor(minute.atMs / stepMs) * stepMs;
    steps.set(start, [...(steps.get(start) ?? []), minute]);
  }
  const items = [...steps]
    .sort(([a], [b]) => a - b)
    .map(([start, minutes]) => {
      const values = toSeriesValues({
        processes: minutes.flatMap(({ process }) => process ?? []),
        states: minutes.flatMap(({ state }) => state ?? []),
      });
      return {
        at: new Date(start).toISOString(),
        values: Object.fromEntries(wanted.map((name) => [name, values[name]])),
      };
    });
  return { step_s: stepS, items, next_cursor: null };
}

function parseNames(names: string | undefined): readonly SampleName[] {
  const all = Object.keys(SAMPLE_NAMES) as SampleName[];
  if (names === undefined) return all;
  return names.split(',').map((name) => {
    const known = all.find((each) => each === name);
    if (known) return known;
    throw badRequest(`There is no sample "${name}".`, {
      field: 'names',
      reason: 'unsupported_value',
      allowed: all,
    });
  });
}

function parseSince(since: string | undefined, now: Date): number {
  if (since === undefined) return now.getTime() - HOUR_MS;
  const ms = Date.parse(since);
  if (/^\d{4}-\d\d-\d\dT/.test(since) && !Number.isNaN(ms)) return ms;
  throw badRequest('created_after must be a time such as 2026-11-22T10:15:00Z', {
    field: 'created_after',
    reason: 'invalid_value',
  });
}

type Minute = {
  readonly atMs: number;
  process?: ProcessSample | undefined;
  state?: Partial<StateSample> | undefined;
};

/** One entry for each minute. The latest minutes of all processes are joined here. */
async function readMinutes(
  db: OperationsContext['db'],
  since: Date,
  host: string | undefined,
): Promise<Minute[]> {
  const minutes = new Map<number, Minute>();
  const minuteAt = (at: Date): Minute => {
    const found = minutes.get(at.getTime()) ?? { atMs: at.getTime() };
    minutes.set(at.getTime(), found);
    return found;
  };
  for (const row of await listSampleRows(db, host === undefined ? ['', '*'] : [host], since)) {
    const minute = minuteAt(row.at);
    if (row.host === '') minute.state = row.values as Partial<StateSample>;
    else minute.process = row.values as ProcessSample;
  }
  if (host !== undefined) return [...minutes.values()];
  for (const { at, values } of await listLatestSamples(db, since)) {
    const minute = minuteAt(at);
    const sample = values as ProcessSample;
    minute.process = minute.process ? joinProcesses(minute.process, sample) : sample;
  }
  return [...minutes.values()].sort((a, b) => a.atMs - b.atMs);
}
