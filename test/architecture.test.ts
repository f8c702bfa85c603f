// Holds the map of the house: what each file is, whom it may import, and who knows what.
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { JOB_SETTINGS } from '../service/src/jobs.ts';
import {
  files,
  type Import,
  imports,
  neededBy,
  type SourceFile,
  testTexts,
} from './support/tree/source-tree.ts';

/** Lowest first: a feature knows those on earlier lines, and itself. */
const ORDER = `
  platform
  auth storage media
  assets
  lifecycle usage
  captions
  library encoding images
  providers
  uploads playback events
  collections upkeep operations
  owners
  commands`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

const PORTS =
  '(?:object-store|backup-target|encoder|callback|image-processor|issuer-keys|probe|provider(?:-module)?)';

/**
 * What a file is, told by its path: the first that fits, and where no role is named the word in brackets.
 * All other files are rules.
 */
const ROLES: readonly (readonly [path: RegExp, role?: string])[] = [
  [/^(main|service|start-banner|config|adapters|app|tables|jobs)(?:-[a-z]+)?$/],
  [/^open-decoders$/, 'adapters'],
  [/^platform\/(?:http\/errors|postgres\/row|settings\/(?:read-)?settings?)$/, 'base'],
  [/^platform\/values\/(?:lru-cache|networks|plain-text|strict-json|uuid)$/, 'base'],
  [/\.(contract|fixture)$/],
  [/^platform\/[a-z0-9/-]+$/, 'platform'],
  [/^[a-z]+\/feature$/, 'feature'],
  [/^[a-z]+\/context$/, 'context'],
  [/^[a-z]+\/(?:[a-z]+\/)?[a-z0-9-]+\.(sql|routes|hook|job|worker)$/],
  [/^commands\/(?:backup\/(?!settings$))?[a-z-]+$/, 'command'],
  [/^providers\/registry$/, 'registry'],
  [RegExp(`^[a-z]+/${PORTS}$`), 'port'],
  [RegExp(`^[a-z]+/(?:[a-z]+/)?[a-z0-9]+-${PORTS}$`), 'adapter'],
  [/^(?:storage\/(?:backup|disk|s3)\/|encoding\/ffmpeg\/(?:\w+\/)?|images\/sharp-)[a-z-]+$/, 'adapter'],
  [/^providers\/(?:[a-z]+\/[a-z]+-(?:api|check)|shared\/hosted-client)$/, 'adapter'],
  [
    /^(?:events\/event-stream|operations\/diagnostics\/stream|playback\/segment-response-cache)$/,
    'operations',
  ],
  [/^lifecycle\/(?:asset-changes|playback-asset-cache)$/, 'operations'],
  [/^[a-z]+\/(?:[a-z]+\/){0,2}[a-z0-9-]+$/, 'rule'],
];

/**
 * Role → roles that it may import, beside the base: `:type` as types only, `:own` from its own feature
 * only.
 */
const MAY: Readonly<Record<string, string>> = {
  main: 'service command adapters config platform',
  service: 'app config adapters start-banner command rule platform',
  'start-banner': 'config:type adapters:type rule platform:type',
  app: 'app config:type adapters:type feature hook jobs:type platform',
  feature:
    'app:type context:type feature:type hook routes:own job:own operations port:type jobs:type rule platform',
  context: 'config:type feature:type hook:type operations:type port:type jobs:type rule:type platform:type',
  config: 'config registry port:type rule platform',
  adapters: 'config:type adapters registry adapter port:type rule jobs platform',
  registry: 'adapter:own port:type rule:type platform:type',
  command: 'command:own config:type adapters:type port:type operations:type rule platform',
  routes: 'context:type hook rule routes:own operations:own operations:type platform',
  hook: 'context:type hook rule operations:own operations:type platform',
  job: 'context:type rule operations:own operations:type port:type jobs:type platform',
  operations: 'context:type rule sql:own operations:own operations:type port:type jobs:type platform',
  sql: 'sql:own tables rule:type port:type platform',
  adapter: 'adapter:own worker:own rule port:type jobs:type platform',
  worker: 'worker:own rule port:type',
  port: 'rule:type port:type jobs:type platform:type',
  rule: 'rule port:type tables jobs:type',
  contract: 'fixture:own rule port:type',
  fixture: 'context:type fixture operations:own rule tables port:type adapter:own platform',
  jobs: 'platform:type',
  platform: 'platform',
  tables: 'tables',
  base: '',
};

/** Module → the files that may import it, as `role path`. Pure Node modules are allowed everywhere. */
const OUTSIDE: readonly (readonly [module: RegExp, knownBy: RegExp])[] = [
  [/^fastify$/, /^(?:routes|hook) |^platform platform\/http\//],
  [/^@(?:fastify|scalar)\//, /^platform platform\/http\//],
  [/^@mediary\/(?:contract|media-rules)\/(?!probe-video|video-traits)/, /./],
  [/^@mediary\/checks\//, / operations\/diagnostics\//],
  [/^@mediary\/embedded-postgres\//, /^adapters |^command commands\/backup|storage\/backup\/folder/],
  [
    /^typebox(?:\/compile)?$/,
    /^routes |^platform platform\/http\/|\/(?:provider-module|asset-edits|encoder-report)$/,
  ],
  [/^pg$/, /^(?:platform|fixture) platform\/postgres\/|^command commands\/seed$/],
  [/^tar-stream$/, /^platform platform\/archive\/tar-writer$/],
  [/^pg-boss$/, /^platform platform\/jobs\/(?:job-queue|open-boss|send-job)$/],
  [/^pg-boss\/package\.json$/, /^platform platform\/jobs\/job-schema$/],
  [/^jose$/, /^adapter auth\/tokens\/jwks-issuer-keys$/],
  [/^prom-client$/, /^platform platform\/observability\/metrics$/],
  [/^@opentelemetry\//, /^platform platform\/observability\/open-telemetry$/],
  [/^pino$/, /^platform platform\/observability\/(?:logger|repeated-errors)$/],
  [/^(?:sharp|libheif-js\/wasm-bundle)$/, /^(?:adapter|worker) images\//],
  [/^thumbhash$/, /^worker images\/|^adapter encoding\/ffmpeg\/placeholder$/],
  [/^@(?:aws-sdk|smithy)\//, /^adapter storage\/(?:s3|backup)/],
  [/^mediabunny$|^@mediary\/media-rules\//, /^worker media\/mediabunny-/],
  [/^vitest$/, /^(?:contract|fixture) /],
  [/^node:(?:buffer|crypto|util|zlib)$/, /./],
  [/^node:process$/, /^main /],
  [/^node:(?:stream|http)$/, /^(?!rule|hook|routes|sql)/],
  [
    /^node:fs$/,
    /^(?:main|service|adapters|command|platform|adapter|worker|job|contract|fixture) |\/run-files$|ed-run$/,
  ],
  [
    /^node:/,
    /^(?:main|service|adapters|command|platform|adapter|worker|job|contract|fixture|base) |ed-run$|-local$/,
  ],
];
const ENVIRONMENT =
  /\bprocess\s*(?:\?\.|\.|\[)\s*['"`]?env\b|\benv\b[^=\n]*\}\s*=\s*process\b|\bglobalThis\b/;

type Inside = Import & { readonly to: SourceFile };
const inside = imports.filter((found): found is Inside => found.to !== undefined);

const isContext = ({ path }: SourceFile): boolean => /^[a-z]+\/context$/.test(path);

function roleOf({ path }: SourceFile): string {
  const [form, named] = ROLES.find(([fits]) => fits.test(path)) ?? [/()/];
  const role = named ?? form.exec(path)?.[1] ?? '';
  const hasTwin = files.some((file) =>
    ['sql', 'routes', 'job'].some((twin) => file.path === `${path}.${twin}`),
  );
  const hasContext = imports.some(({ from, to }) => from.path === path && to && isContext(to));
  return role === 'rule' && (hasTwin || hasContext) ? 'operations' : role;
}

function isAllowed({ from, to, values }: Inside): boolean {
  // An error that a port throws has to be known to be caught, and a list of providers to be read.
  const asType = values.every(
    (name) => roleOf(to) === 'port' && /Error$|^(?:getProvider|defineProvider)$/.test(name),
  );
  return (
    roleOf(to) === 'base' ||
    (MAY[roleOf(from)] ?? '').split(' ').some((rule) => {
      const [role, limit] = rule.split(':');
      return (
        role === roleOf(to) &&
        (limit === undefined || (limit === 'own' ? from.feature === to.feature : asType))
      );
    })
  );
}

const rank = ({ feature }: SourceFile): number => ORDER.findIndex((features) => features.includes(feature));
/** The folder of a provider module; the other rooms of the wing belong to all of them. */
function providerOf({ path }: SourceFile): string {
  const [, name = ''] = /^providers\/(\w+)\//.exec(path) ?? [];
  return files.some((file) => file.path === `providers/${name}/${name}-provider`) ? name : '';
}
const isStrange = ({ from, target }: Import): boolean =>
  !OUTSIDE.find(([module]) => module.test(target))?.[1].test(`${roleOf(from)} ${from.path}`);

const pathsOf = (chosen: readonly SourceFile[]): string[] => chosen.map(({ path }) => path);
const lines = (chosen: readonly Import[]): string[] =>
  chosen.map(
    ({ from, target, values }) =>
      `${from.path} (${roleOf(from)}) → ${target}: ${values.join(', ') || 'types'}`,
  );

describe("the service's source files", () => {
  test('every file has a role and a known feature, and starts with a comment', () => {
    expect(
      pathsOf(
        files.filter((file) => !(roleOf(file) in MAY) || !['', ...ORDER.flat()].includes(file.feature)),
      ),
    ).toEqual([]);
    expect(pathsOf(files.filter(({ text }) => !/^\/\/ \S.*\n/.test(text)))).toEqual([]);
  });
  test('files import only the roles that their role may import, and existing files', () => {
    expect(lines(inside.filter((found) => !isAllowed(found)))).toEqual([]);
    expect(
      lines(imports.filter(({ to, target }) => !to && /^\.(?!.*\/package\.json$)/.test(target))),
    ).toEqual([]);
  });
  test('features import only features below them, and providers no other provider', () => {
    expect(
      lines(
        inside.filter(
          ({ from, to }) =>
            from.feature && to.feature && from.feature !== to.feature && rank(from) <= rank(to),
        ),
      ),
    ).toEqual([]);
    expect(
      lines(
        inside.filter(
          ({ from, to }) => providerOf(from) && providerOf(to) && providerOf(from) !== providerOf(to),
        ),
      ),
    ).toEqual([]);
  });
  test('npm packages and Node modules are imported only by the roles that may import them', () => {
    expect(lines(imports.filter((found) => !found.target.startsWith('.') && isStrange(found)))).toEqual([]);
  });
  test('lifecycle alone writes assets and events', () => {
    const STATEMENT = /\b(?:(?:insert|merge)\s+into|update|delete\s+from|truncate(?:\s+table)?)\s+/;
    const WRITE = RegExp(`${STATEMENT.source}(?:only\\s+)?"?(?:assets|events)\\b`, 'i');
    const isWriter = ({ feature, text }: SourceFile) => feature !== 'lifecycle' && WRITE.test(text);
    expect(pathsOf(files.filter(isWriter))).toEqual(['commands/seed']);
  });
  test('platform does not mention assets, and only main reads the environment', () => {
    expect(
      pathsOf(files.filter(({ feature, text }) => feature === 'platform' && /asset|video/i.test(text))),
    ).toEqual([]);
    expect(pathsOf(files.filter(({ path, text }) => path !== 'main' && ENVIRONMENT.test(text)))).toEqual([]);
  });
  test('main imports every file, and tests import every contract and fixture', () => {
    const alive = neededBy('main');
    const isTested = ({ path }: SourceFile) =>
      testTexts.some((text) => text.includes(`/${basename(path)}.ts'`));
    expect(
      pathsOf(
        files.filter(
          (file) => !(/\.(?:contract|fixture)$/.test(file.path) ? isTested(file) : alive.has(file.path)),
        ),
      ),
    ).toEqual([]);
  });
  test('every job file has a job of its name, and the app creates every feature', () => {
    const jobFiles = pathsOf(files.filter(({ path }) => path.endsWith('.job')));
    expect(jobFiles.filter((path) => !(basename(path, '.job') in JOB_SETTINGS))).toEqual([]);
    const features = pathsOf(files.filter((file) => roleOf(file) === 'feature'));
    const listed = imports.filter(
      ({ from, to }) => /^app-/.test(from.path) && to && roleOf(to) === 'feature',
    );
    expect(listed.map(({ to }) => to?.path).sort()).toEqual(features.sort());
  });
});
