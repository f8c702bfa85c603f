// Holds the Helm chart: Kubernetes accepts its objects, its settings exist, and its pods are hardened.
import { beforeAll, describe, expect, test } from 'vitest';
import { listSettingGroups, readConfig } from '../../service/src/config.ts';
import { namesOf } from '../../service/src/platform/settings/read-settings.ts';
import packageJson from '../../package.json' with { type: 'json' };
import {
  type Container,
  findTypeErrors,
  installHelm,
  isInstalled,
  type KubernetesObject,
  lint,
  render,
  validate,
} from './rendered-chart.ts';

const SECRET = 'x'.repeat(40);
const SMALLEST = {
  settings: { PUBLIC_BASE_URL: 'https://media.example.com', STORAGE_URL: 's3://media?region=eu-central-1' },
  secrets: { shared: { existingSecret: 'shared' }, api: { existingSecret: 'api' } },
};
const LARGEST = {
  settings: { ...SMALLEST.settings, MAX_UPLOAD_BYTES: 5_000_000_000, TRUST_PROXY: '10.0.0.0/8' },
  secrets: {
    shared: { values: { DATABASE_URL: 'postgres://mediary:"%23: @db/mediary' } },
    api: {
      values: { ACCESS_TOKEN_SECRET: SECRET, SERVICE_API_KEY: `${SECRET}y`, OPERATOR_KEY: `${SECRET}z` },
    },
  },
  imagePullSecrets: [{ name: 'registry' }],
  serviceAccount: { annotations: { role: 'media' } },
  seccompProfile: { type: 'Localhost', localhostProfile: 'mediary.json' },
  appArmorProfile: { type: 'Unconfined' },
  podAnnotations: { a: 'b' },
  podLabels: { c: 'd' },
  api: { autoscaling: { enabled: true }, nodeSelector: { disk: 'fast' }, settings: { LOG_LEVEL: 'debug' } },
  worker: {
    autoscaling: { enabled: true, metric: { selector: { matchLabels: { queue: 'encode-asset' } } } },
    tolerations: [{ key: 'encoders', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    settings: { ENCODE_CONCURRENCY: 2 },
  },
  migrate: {
    secret: { values: { DATABASE_URL: 'postgres://mediary_owner:"%23: @db/mediary' } },
    nodeSelector: { disk: 'fast' },
  },
  service: { annotations: { e: 'f' } },
  ingress: { enabled: true, className: 'nginx', tlsSecret: 'tls' },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
};
const CASES = [
  ['the smallest values', SMALLEST],
  ['all values', LARGEST],
] as const;

const known = namesOf(listSettingGroups());
const deploymentsOf = (objects: readonly KubernetesObject[]) =>
  objects.flatMap(({ kind, metadata, spec }) =>
    kind === 'Deployment' && spec?.template ? [{ name: metadata.name, pod: spec.template.spec }] : [],
  );
const find = (objects: readonly KubernetesObject[], kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);

/** The variables of a pod, where the chart creates its Secrets. */
const environmentOf = (objects: readonly KubernetesObject[], name: string): Record<string, string> => {
  const [deployment] = deploymentsOf(objects).filter((each) => each.name === name);
  const sources = deployment?.pod.containers[0].envFrom ?? [];
  return Object.assign(
    {},
    ...sources.map(({ configMapRef, secretRef }) =>
      configMapRef
        ? find(objects, 'ConfigMap', configMapRef.name)?.data
        : find(objects, 'Secret', secretRef?.name ?? '')?.stringData,
    ),
  ) as Record<string, string>;
};

/** Where a container has its DATABASE_URL from. */
const secretOf = (container: Container | undefined) =>
  container?.env?.find(({ name }) => name === 'DATABASE_URL')?.valueFrom.secretKeyRef;

describe.skipIf(!isInstalled)('the Helm chart', () => {
  beforeAll(installHelm);

  test.each(CASES)('with %s: Helm finds nothing, and Kubernetes knows each member', async (_, values) => {
    expect(await lint(values)).toContain('1 chart(s) linted, 0 chart(s) failed');
    const objects = await render(values);
    for (const object of objects) await validate(object);
    expect(await findTypeErrors(objects)).toBe('');
  });

  test('a wrong or unknown member of an object would be found', async () => {
    const [object] = (await render(SMALLEST)).filter(({ kind }) => kind === 'Deployment');
    const broken = (more: object) => ({ ...object, spec: { ...object?.spec, ...more } }) as KubernetesObject;
    await expect(validate(broken({ replicas: 'two' }))).rejects.toThrow('replicas');
    expect(await findTypeErrors([broken({ replica: 2 })])).toContain(`'"replica"' does not exist`);
  });

  test('creates what it was told to', async () => {
    const kinds = async (values: object) => (await render(values)).map(({ kind }) => kind).sort();
    const always = ['ConfigMap', 'ConfigMap', 'Deployment', 'Deployment'];
    const budgets = ['PodDisruptionBudget', 'PodDisruptionBudget'];
    expect(await kinds(SMALLEST)).toEqual([...always, 'Job', ...budgets, 'Service', 'ServiceAccount'].sort());
    expect(await kinds(LARGEST)).toEqual(
      [
        ...always,
        ...budgets,
        ...['HorizontalPodAutoscaler', 'HorizontalPodAutoscaler', 'Ingress', 'Ingress', 'Job'],
        ...['Secret', 'Secret', 'Secret', 'Service', 'Service', 'ServiceAccount', 'ServiceMonitor'],
      ].sort(),
    );
  });

  test.each(['api', 'worker'])(
    'the settings of the %s are valid, and it may finish its work',
    async (role) => {
      const objects = await render(LARGEST);
      const environment = environmentOf(objects, `test-mediary-${role}`);
      expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
      const config = readConfig(environment, (path) => path);
      expect(config).toMatchObject({ role, dataDir: '/data/mediary' });
      expect(environment['MAX_UPLOAD_BYTES']).toBe('5000000000');
      expect(environment['DATABASE_URL']).toBe(LARGEST.secrets.shared.values.DATABASE_URL);
      expect('OPERATOR_KEY' in environment).toBe(role === 'api');
      const [deployment] = deploymentsOf(objects).filter(({ name }) => name.endsWith(role));
      const grace = deployment?.pod.terminationGracePeriodSeconds;
      expect(grace).toBeGreaterThan(config.drainSeconds + config.stopTimeoutSeconds + 10);
    },
  );

  test('YAML reads off as false; settings of one kind of process win, also with 0 and no text', async () => {
    const ENCODER_CALLBACK_URL = 'http://reports.internal';
    const shared = { CONSOLE: false, SAMPLE_RETENTION_H: 24, CORS_ORIGINS: '*', ENCODER_CALLBACK_URL };
    const settings = { ...SMALLEST.settings, ...shared };
    const own = { SAMPLE_RETENTION_H: 0, CORS_ORIGINS: '', HLS_AUDIO_VARIANT: true };
    const objects = await render({ ...SMALLEST, settings, api: { settings: own } });
    const expected = { CONSOLE: 'off', SAMPLE_RETENTION_H: '0', CORS_ORIGINS: '', HLS_AUDIO_VARIANT: 'on' };
    expect(environmentOf(objects, 'test-mediary-api')).toMatchObject(expected);
    const worker = environmentOf(objects, 'test-mediary-worker');
    expect(worker).toMatchObject({ SAMPLE_RETENTION_H: '24', ENCODER_CALLBACK_URL });
  });

  test('objects refer to objects that exist', async () => {
    const objects = await render(LARGEST);
    for (const { pod } of deploymentsOf(objects)) {
      expect(find(objects, 'ServiceAccount', pod.serviceAccountName)).toBeDefined();
      for (const { configMapRef, secretRef } of pod.containers[0].envFrom)
        expect(
          configMapRef
            ? find(objects, 'ConfigMap', configMapRef.name)
            : find(objects, 'Secret', secretRef?.name ?? ''),
        ).toBeDefined();
    }
    for (const { spec } of objects)
      if (spec?.scaleTargetRef) expect(find(objects, 'Deployment', spec.scaleTargetRef.name)).toBeDefined();
    const { ENCODER_CALLBACK_URL = '' } = environmentOf(objects, 'test-mediary-worker');
    expect(find(objects, 'Service', new URL(ENCODER_CALLBACK_URL).hostname)).toBeDefined();
    const existing = deploymentsOf(await render(SMALLEST)).map(({ pod }) =>
      pod.containers[0].envFrom.flatMap(({ secretRef }) => secretRef?.name ?? []),
    );
    expect(existing).toEqual([['shared', 'api'], ['shared']]);
  });

  test('the ingress neither limits nor buffers uploads and imports of owners', async () => {
    const ingress = find(await render(LARGEST), 'Ingress', 'test-mediary-uploads');
    expect(ingress?.metadata.annotations).toMatchObject({
      'nginx.ingress.kubernetes.io/proxy-body-size': '0',
      'nginx.ingress.kubernetes.io/proxy-request-buffering': 'off',
    });
    const paths = ['/api/v1/uploads/', '/api/v1/admin/owners/'].map((path) => ({ path, pathType: 'Prefix' }));
    expect(ingress?.spec).toMatchObject({ rules: [{ http: { paths } }] });
  });

  test('a Job migrates before the release changes, and the pods do not', async () => {
    const objects = await render(SMALLEST);
    const job = find(objects, 'Job', 'test-mediary-migrate');
    expect(job?.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    const [container] = job?.spec?.template?.spec.containers ?? [];
    expect(container).toMatchObject({ args: ['migrate'], image: `mediary:${packageJson.version}` });
    expect(secretOf(container)).toEqual({ name: 'shared', key: 'DATABASE_URL' });
    for (const role of ['api', 'worker'])
      expect(find(objects, 'ConfigMap', `test-mediary-${role}`)?.data?.['MIGRATE_AT_START']).toBe('off');
  });

  test('the Job needs no object of the release, which comes later', async () => {
    const objects = await render(LARGEST);
    const job = find(objects, 'Job', 'test-mediary-migrate');
    const pod = job?.spec?.template?.spec;
    expect(pod?.serviceAccountName).toBeUndefined();
    const secret = find(objects, 'Secret', secretOf(pod?.containers[0])?.name ?? '');
    expect(secret?.metadata.annotations).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-weight': '-1',
    });
    expect(secret?.stringData).toEqual(LARGEST.migrate.secret.values);
    const { secret: own, ...others } = LARGEST.migrate;
    const shared = find(await render({ ...LARGEST, migrate: others }), 'Secret', 'test-mediary-migrate');
    expect(shared?.stringData).toEqual(LARGEST.secrets.shared.values);
    expect(shared?.stringData).not.toEqual(own.values);
  });

  test('without the Job the pods migrate', async () => {
    const objects = await render({ ...SMALLEST, migrate: { enabled: false } });
    expect(objects.filter(({ kind }) => kind === 'Job')).toEqual([]);
    expect(environmentOf(objects, 'test-mediary-api')['MIGRATE_AT_START']).toBe('on');
  });

  test('pods are hardened', async () => {
    const objects = await render(SMALLEST);
    const job = find(objects, 'Job', 'test-mediary-migrate')?.spec?.template?.spec;
    const pods = [...deploymentsOf(objects).map(({ pod }) => pod), job];
    expect(pods).toHaveLength(3);
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 10_001,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        containers: [
          {
            image: `mediary:${packageJson.version}`,
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
            resources: { requests: { memory: expect.any(String) }, limits: { memory: expect.any(String) } },
          },
        ],
      });
    }
  });

  test.each([
    ['no public URL', { ...SMALLEST, settings: {} }, /settings\.PUBLIC_BASE_URL is needed/],
    ['no secrets', { settings: SMALLEST.settings }, /secrets\.shared needs existingSecret or values/],
    ['an unknown value', { ...SMALLEST, replicas: 3 }, /additional properties 'replicas' not allowed/],
  ])('says what is wrong with %s', async (_, values, message) => {
    await expect(render(values)).rejects.toThrow(message);
  });
});
