// Messages about invalid settings, and the secrets that the service generates (contract B9; security A11).
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../service/src/config.ts';
import { OWN_SECRETS } from '../../../service/src/auth/settings.ts';
import { openLocalSecrets } from '../../../service/src/platform/settings/generated-secrets.ts';
import { SECRETS } from '../../support/service.ts';

const DATABASE = { DATABASE_URL: 'postgres://mediary:planted-password@db.test/mediary' };
const read = (environment: Record<string, string>) => readConfig(environment, (path) => join('/data', path));
const HOSTS = { CDNHOST_STREAM_HOSTNAME: 'cdn.test', EDGEHOST_CUSTOMER_SUBDOMAIN: 'edge.test' };
const given = { ...DATABASE, ...SECRETS, ...HOSTS };

/** The message of the refusal; fails where there is none. */
function refusal(environment: Record<string, string>): string {
  try {
    read(environment);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the settings were accepted');
}

describe('with a database of its own', () => {
  test('one message names all missing secrets', () => {
    expect(refusal(DATABASE)).toBe(
      ['Invalid settings:', ...OWN_SECRETS.map((name) => `  - ${name} must be set`)].join('\n'),
    );
    const { SERVICE_API_KEY: _key, ...others } = given;
    expect(refusal(others)).toBe('Invalid settings:\n  - SERVICE_API_KEY must be set');
  });

  test.each(['', '   '])('an empty secret (%j) counts as missing', (empty) => {
    expect(refusal({ ...given, ACCESS_TOKEN_SECRET: empty })).toMatch(
      /^ {2}- ACCESS_TOKEN_SECRET must be set$/m,
    );
  });

  test('a worker needs no secrets, but a URL for its reports', () => {
    const worker = { ...DATABASE, MEDIARY_ROLE: 'worker' };
    expect(read({ ...worker, ENCODER_CALLBACK_URL: 'http://api.test:8080' })).toMatchObject({
      role: 'worker',
      tokenSecrets: [],
      serviceKeys: [],
      operatorKeys: [],
    });
    expect(read({ ...worker, PUBLIC_BASE_URL: 'https://media.test' }).role).toBe('worker');
    expect(refusal(worker)).toBe(
      'Invalid settings:\n  - ENCODER_CALLBACK_URL must be set where MEDIARY_ROLE is worker',
    );
  });

  test('a missing provider secret does not prevent the start', () => {
    expect(
      read({ ...DATABASE, ...Object.fromEntries(OWN_SECRETS.map((name) => [name, SECRETS[name]])) }).warnings,
    ).toEqual([]);
  });
});

test('one message names every invalid setting once', () => {
  const bad = {
    MEDIARY_ROLE: 'boss',
    PORT: '70000',
    PUBLIC_BASE_URL: 'media.test',
    ENCODER_CALLBACK_URL: 'ftp://a',
    CDN_BASE_URL: 'cdn.test',
    SEGMENT_DELIVERY: 'redirect',
    STORAGE_URL: 'gs://bucket',
    VIDEO_PROVIDER: 'youtube',
    WEBHOOKS_ALLOW_UNSIGNED: 'onprem,cdnhost',
    ALLOWED_MIME_TYPES: 'image/svg+xml',
    MAX_UPLOAD_BYTES: '10GB',
    UPLOAD_TTL_S: '0',
    PLAYBACK_TOKEN_TTL_S: '-1',
    LOG_LEVEL: 'loud',
    EDGEHOST_WEBHOOK_TOLERANCE_S: 'never',
  };
  const [title, ...problems] = refusal({ ...DATABASE, ...bad }).split('\n');
  expect(title).toBe('Invalid settings:');
  expect(problems.map((problem) => /^ {2}- ([A-Z_]+) /.exec(problem)?.[1]).sort()).toEqual(
    [...Object.keys(bad), ...OWN_SECRETS].sort(),
  );
  expect(problems.join()).not.toMatch(/planted-password|70000/);
});

test.each(['file:./objects', 'file:objects', 'file:', 'file://host/objects'])(
  'STORAGE_URL %s is rejected',
  (url) => {
    expect(refusal({ ...given, STORAGE_URL: url })).toContain(
      '  - STORAGE_URL must name a folder by its absolute path, such as file:///srv/media',
    );
  },
);

test.each(['file:/srv/media', 'file:///srv/media', 'file://localhost/srv/media'])(
  'STORAGE_URL %s is accepted',
  (url) => {
    expect(read({ ...given, STORAGE_URL: url }).storageUrl).toBe(url);
  },
);

test.each([
  'https://app.example.com/',
  'https://app.example.com/path',
  'app.example.com',
  'https://user@app.example.com',
  'https://a.test https://b.test',
])('CORS_ORIGINS %s is rejected', (origin) => {
  expect(refusal({ ...given, CORS_ORIGINS: `https://ok.test,${origin}` })).toContain(
    `  - CORS_ORIGINS: "${origin}" is not an origin. Give scheme and host without a path`,
  );
});

test.each(['*', 'https://app.example.com', 'http://localhost:5173,capacitor://localhost'])(
  'CORS_ORIGINS %s is accepted',
  (origins) => {
    expect(read({ ...given, CORS_ORIGINS: origins }).corsOrigins).toEqual(origins.split(','));
  },
);

test.each([
  ['HTTPS://App.Example.com:443', 'https://app.example.com'],
  ['http://localhost:80', 'http://localhost'],
  ['https://bücher.example:8443', 'https://xn--bcher-kva.example:8443'],
])('CORS_ORIGINS %s is %s, as browsers send it', (text, origin) => {
  expect(read({ ...given, CORS_ORIGINS: text }).corsOrigins).toEqual([origin]);
});

test('a misspelt setting and a missing playback host cause warnings', () => {
  const { ACCESS_TOKEN_SECRET, SERVICE_API_KEY, OPERATOR_KEY } = SECRETS;
  const own = { ...DATABASE, ACCESS_TOKEN_SECRET, SERVICE_API_KEY, OPERATOR_KEY };
  expect(read({ ...own, MEDIARY_ROLES: 'all', CORS_ORIGIN: '*', PATH: '/bin' }).warnings).toEqual([
    'MEDIARY_ROLES is not a setting of this release and is ignored. Did you mean MEDIARY_ROLE?',
    'CORS_ORIGIN is not a setting of this release and is ignored. Did you mean CORS_ORIGINS?',
  ]);
  expect(read({ ...own, EDGEHOST_STREAM_API_TOKEN: 'x'.repeat(40) }).warnings).toEqual([
    expect.stringMatching(/^EDGEHOST_CUSTOMER_SUBDOMAIN is not set/),
  ]);
});

describe('unsigned webhooks', () => {
  test('are never accepted from cdnhost', () => {
    for (const named of ['cdnhost', 'onprem,cdnhost', 'CDNHOST', 'all', '*'])
      expect(refusal({ ...given, WEBHOOKS_ALLOW_UNSIGNED: named })).toContain(
        'WEBHOOKS_ALLOW_UNSIGNED may name edgehost and onprem only',
      );
  });

  test('cause a warning if they are accepted', () => {
    const { ONPREM_WEBHOOK_SECRET: _secret, ...others } = given;
    const { warnings, allowUnsigned } = read({ ...others, WEBHOOKS_ALLOW_UNSIGNED: 'onprem, edgehost' });
    expect(allowUnsigned).toEqual(['onprem', 'edgehost']);
    expect(warnings).toEqual([
      expect.stringMatching(/onprem webhook accepts unsigned requests.*ONPREM_WEBHOOK_SECRET/),
    ]);
  });
});

test('weak secrets cause one warning each, and are accepted', () => {
  const weak = {
    ...given,
    SERVICE_API_KEY: 'short',
    ONPREM_WEBHOOK_SECRET: 'x'.repeat(31),
    OPERATOR_KEY: SECRETS.ACCESS_TOKEN_SECRET,
  };
  expect(read(weak).warnings).toEqual([
    'SERVICE_API_KEY is shorter than 32 characters. Use a longer random value.',
    'ONPREM_WEBHOOK_SECRET is shorter than 32 characters. Use a longer random value.',
    'ACCESS_TOKEN_SECRET and OPERATOR_KEY have the same value. Use a different value for each.',
  ]);
  expect(read(given).warnings).toEqual([]);
});

test('printed settings contain no secrets', () => {
  const config = read({ ...given, URL_SIGNING_SECRET: 'planted-url-signing-secret-0123456789' });
  expect(JSON.stringify(config)).not.toMatch(/test-|planted-url/);
  expect(String(config.tokenSecrets)).toBe('[secret]');
});

describe('without a configured database', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mediary-start-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('secrets are generated once, readable by their user only, and reused', async () => {
    const place = join(folder, 'new', 'data');
    const made = await openLocalSecrets(place, OWN_SECRETS);
    expect(Object.keys(made.values)).toEqual([...OWN_SECRETS]);
    expect(new Set(Object.values(made.values)).size).toBe(OWN_SECRETS.length);
    for (const value of Object.values(made.values)) expect(value).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect((await stat(made.file)).mode & 0o777).toBe(0o600);
    expect(await openLocalSecrets(place, OWN_SECRETS)).toEqual(made);
    expect(read(made.values).warnings).toEqual([]);
  });

  test('a secret that a release adds is generated, the others stay', async () => {
    const place = join(folder, 'grown');
    const before = await openLocalSecrets(place, ['ACCESS_TOKEN_SECRET']);
    const after = await openLocalSecrets(place, OWN_SECRETS);
    expect(after.values).toMatchObject(before.values);
    expect(Object.keys(after.values)).toHaveLength(OWN_SECRETS.length);
    expect((await stat(after.file)).mode & 0o777).toBe(0o600);
  });

  test('the file exists at every moment while secrets are added', async () => {
    const place = join(folder, 'updated');
    const { file } = await openLocalSecrets(place, ['FIRST']);
    let isUpdating = true;
    let missing = 0;
    const watch = () => {
      if (!existsSync(file)) missing += 1;
      if (isUpdating) setImmediate(watch);
    };
    watch();
    for (let added = 1; added <= 20; added++)
      await openLocalSecrets(
        place,
        Array.from({ length: added }, (_, index) => `ADDED_${index}`),
      );
    isUpdating = false;
    expect(missing).toBe(0);
    expect(await readdir(place)).toEqual(['secrets.json']);
  });

  test('concurrent first starts use the same secrets', async () => {
    const place = join(folder, 'twice');
    const made = await Promise.all(Array.from({ length: 8 }, () => openLocalSecrets(place, OWN_SECRETS)));
    for (const other of made) expect(other).toEqual(made[0]);
  });

  test('an unreadable secrets file is not replaced', async () => {
    const place = join(folder, 'broken');
    await mkdir(place);
    await writeFile(join(place, 'secrets.json'), '{"ACCESS_TOKEN_SECRET":');
    await expect(openLocalSecrets(place, OWN_SECRETS)).rejects.toThrow(/secrets\.json cannot be read/);
    expect(await readFile(join(place, 'secrets.json'), 'utf8')).toBe('{"ACCESS_TOKEN_SECRET":');
  });
});
