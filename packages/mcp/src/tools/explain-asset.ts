// `explain_asset`: why an asset is as it is, and what happens next.
import { checkReadiness } from '@mediary/checks/connection';
import type { Finding } from '@mediary/checks/finding';
import { type Asset, isMediaryError, type Mediary } from '@mediary/client';
import { z } from 'zod';
import { assetId, ownerUserId } from '../asset-fields.ts';
import { type AssetJob, describeJob, describeNext, describeState, findNextCheck } from '../asset-words.ts';
import { type ServiceClients, toCallOptions } from '../clients.ts';
import { createSend, toAddress } from '../probe-service.ts';
import { readLastEntries } from '../timeline.ts';
import { defineTool } from '../tool.ts';

const entrySchema = z.looseObject({ at: z.string(), type: z.string(), sentence: z.string() });

export const explainAsset = defineTool({
  name: 'explain_asset',
  title: 'Explain an asset',
  description:
    'Tells why an asset is stuck, failed or ready: its state, what happened to it, and what happens next ' +
    'and when. For an unfinished asset it also tells what is wrong with the service, and, with the ' +
    'operator key, lists its jobs. It has the last 100 entries of the timeline, and of repeated progress ' +
    'the last one.',
  input: z.strictObject({ id: assetId, owner_user_id: ownerUserId }),
  output: z.looseObject({
    id: z.string(),
    stream_status: z.string(),
    state: z.string(),
    next: z.string(),
    next_check_at: z.string().nullable(),
    failure: z.looseObject({ code: z.string(), retryable: z.boolean() }).nullable(),
    warnings: z.array(z.looseObject({ code: z.string() })),
    timeline: z.array(entrySchema),
    omitted_entries: z.int(),
    jobs: z.array(z.looseObject({ queue: z.string(), state: z.string() })).nullable(),
    service_problem: z.looseObject({ message: z.string() }).nullable(),
  }),
  effect: 'reads',
  async run(clients, { id, owner_user_id }, { signal }) {
    const mediary = clients.assets();
    const options = toCallOptions(owner_user_id, signal);
    const asset = await mediary.media.get(id, options);
    const timeline = await readLastEntries(mediary, id, options);
    const surroundings = isUnfinished(asset) ? await readSurroundings(clients, id, signal) : NOTHING;
    const nextCheckAt = isUnfinished(asset) ? findNextCheck(timeline.items) : null;
    const explanation = {
      id,
      stream_status: asset.stream_status,
      state: describeState(asset),
      next: describeNext(asset, nextCheckAt, new Date()),
      next_check_at: nextCheckAt,
      failure: asset.failure,
      warnings: asset.warnings,
      timeline: timeline.items,
      omitted_entries: timeline.omitted,
      ...surroundings,
    };
    return { data: explanation, text: formatExplanation(explanation) };
  },
});

const isUnfinished = ({ stream_status: status, deleted_at: deletedAt }: Asset): boolean =>
  deletedAt === null && (status === 'pending_upload' || status === 'processing');

type Surroundings = {
  /** Null without a valid operator key. */
  readonly jobs: readonly AssetJob[] | null;
  readonly service_problem: Finding | null;
};

const NOTHING: Surroundings = { jobs: null, service_problem: null };
const MAX_JOBS = 20;

async function readSurroundings(
  { settings, operator }: ServiceClients,
  id: string,
  signal: AbortSignal,
): Promise<Surroundings> {
  const readiness = await checkReadiness(createSend(settings, signal), toAddress(settings));
  return {
    jobs: operator ? await readJobs(operator, id, signal) : null,
    service_problem: readiness.status === 'problem' ? readiness : null,
  };
}

/** Null where the operator key is refused: the asset is explained without jobs, and `get_status` says why. */
async function readJobs(operator: Mediary, id: string, signal: AbortSignal) {
  try {
    const { items } = await operator.request<{ readonly items: readonly AssetJob[] }>({
      method: 'GET',
      path: '/admin/jobs',
      query: { asset_id: id, limit: MAX_JOBS },
      options: { signal },
    });
    return items;
  } catch (error) {
    if (isMediaryError(error)) return null;
    throw error;
  }
}

type Explanation = Surroundings & {
  readonly state: string;
  readonly next: string;
  readonly timeline: readonly z.output<typeof entrySchema>[];
  readonly omitted_entries: number;
};

function formatExplanation({ state, next, timeline, jobs, ...rest }: Explanation): string {
  const { omitted_entries: omitted, service_problem: problem } = rest;
  return [
    state,
    `Next: ${next}`,
    ...(problem ? [`The service: ${problem.message} ${problem.fix ?? ''}`] : []),
    ...(jobs ?? []).map((job) => describeJob(job, new Date())),
    `Timeline${omitted > 0 ? `, without ${omitted} entries of progress or of earlier times` : ''}:`,
    ...timeline.map(({ at, sentence }) => `${at} ${toOneLine(sentence)}`),
  ].join('\n');
}

/** A sentence can quote a provider: it must not look like further lines. */
const toOneLine = (text: string): string => text.replace(/\s+/g, ' ');
