// The operations of operators on queues and jobs.
import { asOperator, asUser, type Answer, call, eventually, type TestService } from '../service.ts';

export type JobJson = Record<string, unknown> & {
  id: string;
  queue: string;
  asset_id: string | null;
  state: string;
  runs: number;
  last_error: { code: string; message: string } | null;
};
type Page = { items: JobJson[]; next_cursor: string | null };

export const askJobs = (service: TestService, query = ''): Promise<Answer<Page>> =>
  call<Page>(service, `GET /admin/jobs${query}`, { headers: asOperator });

export const listJobs = async (service: TestService, query = ''): Promise<JobJson[]> =>
  (await askJobs(service, query)).body.data.items;

export const getJob = async (service: TestService, id: string): Promise<JobJson> =>
  (await call<JobJson>(service, `GET /admin/jobs/${id}`, { headers: asOperator })).body.data;

export const changeJob = (
  service: TestService,
  id: string,
  command: 'cancel' | 'run-again',
): Promise<Answer<JobJson>> =>
  call<JobJson>(service, `POST /admin/jobs/${id}/${command}`, { headers: asOperator });

/** The first job of an asset, once it is in this state. */
export async function jobOf(service: TestService, assetId: string, state: string): Promise<JobJson> {
  const [job] = await eventually(
    () => listJobs(service, `?asset_id=${assetId}`),
    ([first]) => first?.state === state,
  );
  return job as JobJson;
}

/** The newest sentence of the timeline of an asset of ann. */
export async function lastSentence(service: TestService, assetId: string): Promise<string | undefined> {
  const { body } = await call<{ items: { sentence: string }[] }>(service, `GET /media/${assetId}/timeline`, {
    headers: asUser('ann'),
  });
  return body.data.items.at(-1)?.sentence;
}
