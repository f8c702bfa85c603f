// Checks that workers are alive, have one version, and serve every provider; and asks hosted providers.
import { type Finding, notChecked, ok, problem, warning } from '@mediary/checks/finding';
import { describeClockSkew, isClockTrusted } from '../../platform/postgres/database-clock.ts';
import type { SettingFinding, Provider } from '../../providers/provider.ts';
import type { LiveWorker, OperationsContext } from '../context.ts';
import type { Check } from './check.ts';

export async function checkWorkers({ providers, service }: OperationsContext): Promise<Finding[]> {
  const workers = await providers.listWorkers();
  if (workers.length === 0)
    return [
      problem('workers', {
        message: 'No worker is alive: uploads are accepted, but nothing is encoded.',
        fix: 'Start a process with MEDIARY_ROLE=worker (or all), and look into its log if it ends.',
      }),
    ];
  const configured = [...providers.registry.values()].filter(({ kind, api }) => kind === 'encoder' || api);
  return [
    ok('workers', `Processes that run jobs: ${workers.length}.`, {
      workers: workers.map(({ id, roles, providers: served, version: each }) => ({
        id,
        roles,
        version: each,
        providers: served,
      })),
    }),
    judgeVersions(workers, service.version),
    judgeClocks(workers),
    judgeServed(
      workers,
      configured.map(({ name }) => name),
    ),
  ];
}

function judgeVersions(workers: readonly LiveWorker[], version: string): Finding {
  const check = 'workers.versions';
  const versions = [...new Set([version, ...workers.map((worker) => worker.version)])];
  return versions.length === 1
    ? ok(check, `All processes have version ${version}.`, { versions })
    : warning(check, {
        message: `Processes have different versions: ${versions.join(', ')}.`,
        fix: 'Finish the rolling upgrade: restart the processes of the older release.',
        details: { versions },
      });
}

function judgeClocks(workers: readonly LiveWorker[]): Finding {
  const check = 'workers.clocks';
  const skews = workers.map(({ id, clock_skew_ms }) => ({ id, skew_ms: clock_skew_ms }));
  const wrong = skews.filter(({ skew_ms }) => !isClockTrusted(skew_ms));
  const [first] = wrong;
  if (!first) return ok(check, "The clocks of all workers agree with the database's.", { workers: skews });
  return problem(check, {
    message:
      `The clock of worker ${first.id} is ${describeClockSkew(first.skew_ms)} the database's: ` +
      'it takes no job that removes data.',
    fix: 'Synchronize the clocks of all machines by NTP.',
    details: { workers: wrong },
  });
}

function judgeServed(workers: readonly LiveWorker[], names: readonly string[]): Finding {
  const check = 'workers.providers';
  const unserved = names.filter((name) => !workers.some(({ providers }) => providers.includes(name)));
  return unserved.length === 0
    ? ok(check, 'Each configured provider has a worker with its settings.', { providers: names })
    : problem(check, {
        message: `No worker has the settings of ${unserved.join(', ')}: the work on their videos waits.`,
        fix: 'Give the workers the same provider settings as this process, and restart them.',
        details: { unserved },
      });
}

const DEADLINE_MS = 30_000;

/** One check for each hosted provider with settings, for VIDEO_PROVIDER, and for the operator's encoder. */
export const listProviderChecks = (
  { providers, settings }: OperationsContext,
  { isDeep }: { readonly isDeep: boolean },
): Check[] =>
  [...providers.registry.values()]
    .filter(({ kind, name, api, encoder }) =>
      kind === 'hosted' ? api || name === settings.videoProvider : encoder,
    )
    .map((provider) => ({
      name: `provider.${provider.name}`,
      deadlineMs: DEADLINE_MS,
      run: async () => [
        provider.encoder
          ? await checkEncoder(provider.name, provider.encoder)
          : await checkProvider(provider, { publicBaseUrl: settings.publicBaseUrl, isDeep }),
      ],
    }));

/** Encoders need not handle HEAD: any response below 500 shows that the address is right. */
async function checkEncoder(name: string, encoder: NonNullable<Provider['encoder']>): Promise<Finding> {
  const check = `provider.${name}`;
  const status = await encoder.check();
  const details = { url: encoder.url, status: status ?? null };
  if (status !== undefined && status < 500)
    return ok(check, `The external encoder responds (status ${status} to HEAD).`, details);
  const fault = status === undefined ? 'does not respond' : `responds with status ${status}`;
  return problem(check, {
    message: `The external encoder ${fault}: videos wait until it does.`,
    fix: 'Start the encoder, or correct ONPREM_ENCODER_URL. "npm run encoder -- conform" tests an encoder.',
    details,
  });
}

type ProviderOptions = { readonly publicBaseUrl: string | undefined; readonly isDeep: boolean };

async function checkProvider(
  { name, api, capabilities }: Provider,
  { publicBaseUrl, isDeep }: ProviderOptions,
): Promise<Finding> {
  const check = `provider.${name}`;
  if (!api)
    return problem(check, {
      message: `VIDEO_PROVIDER is ${name}, but it is not configured.`,
      fix: `Set ${capabilities.missingSettings.join(', ')}.`,
    });
  if (!isDeep)
    return notChecked(
      check,
      'The API of the provider is not asked.',
      `Ask again with deep=true, or run "npm run provider -- check ${name}".`,
    );
  const webhookUrl = publicBaseUrl && `${publicBaseUrl}/api/v1/webhooks/stream/${name}`;
  return judgeProvider(check, await api.check({ webhookUrl }));
}

function judgeProvider(check: string, settings: readonly SettingFinding[]): Finding {
  const [first, ...more] = settings.filter(({ result }) => result === 'problem');
  const details = { settings };
  if (!first) return ok(check, 'The provider confirms the settings.', details);
  return problem(check, {
    message: `${first.setting}: ${first.detail}${more.length > 0 ? ` (and ${more.length} more)` : ''}`,
    fix: 'Correct the settings that details.settings name, and restart the processes.',
    details,
  });
}
