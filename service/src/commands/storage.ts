// `npm run storage -- check`: tries every operation that the service needs, and prints what to change.
import type { Config } from '../config.ts';
import type { ObjectStore, StoreFinding } from '../storage/object-store.ts';

type StorageContext = {
  readonly config: Pick<Config, 's3' | 'corsOrigins' | 'publicBaseUrl' | 'delivery'>;
  readonly store: Pick<ObjectStore, 'check' | 'diagnose'>;
  /** Where the store is, for people. */
  readonly location: string;
  readonly print: (text: string) => void;
};

/** Throws when something that the service needs is missing. */
export async function runStorageCommand(
  context: StorageContext,
  [verb = '']: readonly string[],
): Promise<void> {
  if (verb !== 'check') throw new Error('Usage: npm run storage -- check');
  const { store, location, print } = context;
  print(`${location}\n`);
  if (!store.diagnose) {
    await store.check();
    return print('  ok       read and write files\n');
  }
  const findings: StoreFinding[] = [];
  for await (const finding of store.diagnose(originsOf(context.config))) {
    findings.push(finding);
    print(renderFinding(finding));
  }
  const failed = findings.filter(({ problem }) => problem !== undefined);
  const fixes = new Map(failed.map((finding) => [finding.fix, finding]));
  for (const finding of fixes.values()) print(renderFix(finding, context.config));
  const missing = failed.filter(({ isRequired }) => isRequired);
  if (missing.length > 0)
    throw new Error(`The object store lacks ${missing.length} of the operations that the service needs.`);
}

/** Pages that upload; and `null`, as browsers say after a redirect from one origin to another. */
function originsOf({ corsOrigins, publicBaseUrl, delivery }: StorageContext['config']): readonly string[] {
  const named = corsOrigins.filter((origin) => origin !== '*');
  const own = publicBaseUrl === undefined ? 'http://localhost:3000' : new URL(publicBaseUrl).origin;
  return [...(named.length > 0 ? named : [own]), ...(delivery.segments === 'redirect' ? ['null'] : [])];
}

function renderFinding({ operation, problem, isRequired }: StoreFinding): string {
  if (problem === undefined) return `  ok       ${operation}\n`;
  return `  ${isRequired ? 'MISSING ' : 'advised '} ${operation}: ${problem}\n`;
}

function renderFix({ fix, configuration }: StoreFinding, config: StorageContext['config']): string {
  const bucket = config.s3?.bucket ?? '';
  const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;
  const apply = (operation: string, option: string, file: string) =>
    `${file}; aws s3api ${operation} --bucket ${bucket} --${option} file://${file}`;
  if (fix === 'policy')
    return `\nGive the user of the service these rights (policy.json):\n${json(policyFor(bucket))}`;
  if (fix === 'cors') {
    const how = apply('put-bucket-cors', 'cors-configuration', 'cors.json');
    return `\nAllow web pages, and keep the rules that the bucket has (${how}):\n${json(corsFor(config))}`;
  }
  if (fix === 'lifecycle') {
    if (!configuration)
      return '\nThe lifecycle rules of the bucket cannot be read: see the rights of policy.json.\n';
    const how = apply('put-bucket-lifecycle-configuration', 'lifecycle-configuration', 'lifecycle.json');
    return `\nRemove unfinished uploads; these are all rules of the bucket (${how}):\n${json(configuration)}`;
  }
  return HINTS[fix];
}

const HINTS = {
  settings: `
Correct STORAGE_URL (bucket, region, endpoint, path_style) or the credentials (AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, a profile or a role). The credentials need the right s3:ListBucket.
`,
  store: `
The store lacks a function: use a newer release of it, or another store.
`,
} as const;

const policyFor = (bucket: string) => ({
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      Action: ['s3:ListBucket', 's3:ListBucketMultipartUploads', 's3:GetLifecycleConfiguration'],
      Resource: `arn:aws:s3:::${bucket}`,
    },
    {
      Effect: 'Allow',
      Action: [
        's3:GetObject',
        's3:PutObject',
        's3:DeleteObject',
        's3:AbortMultipartUpload',
        's3:ListMultipartUploadParts',
      ],
      Resource: `arn:aws:s3:::${bucket}/*`,
    },
  ],
});

const isForAnyPage = ({ corsOrigins, delivery }: StorageContext['config']): boolean =>
  corsOrigins.includes('*') || delivery.segments === 'redirect';

const corsFor = (config: StorageContext['config']) => ({
  CORSRules: [
    {
      AllowedOrigins: isForAnyPage(config) ? ['*'] : originsOf(config),
      AllowedMethods: ['GET', 'HEAD', 'PUT'],
      AllowedHeaders: ['*'],
      ExposeHeaders: ['ETag', 'Content-Range', 'Content-Length', 'Accept-Ranges'],
      MaxAgeSeconds: 3600,
    },
  ],
});
