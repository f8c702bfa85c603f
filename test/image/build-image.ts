// Builds deploy/Dockerfile as operators do, but on a base of its own: no registry of images is needed.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ContainerHost, runCommand } from './container-host.ts';

export const BASE = 'localhost/base';
const NODE = 'localhost/node';
export const IMAGE = 'localhost/mediary';
export const REVISION = 'built-by-a-test';

const ROOT = resolve(import.meta.dirname, '../..');

export async function buildImage(host: ContainerHost): Promise<void> {
  await createBase(host);
  await createNode(host);
  const secrets = await mkdtemp(join(tmpdir(), 'mediary-npm-'));
  try {
    const npmrc = join(secrets, 'npmrc');
    await writeFile(npmrc, await readNpmSettings(), { mode: 0o600 });
    await host.run([
      ...['buildah', 'build', '--jobs=2', '--layers=false', '--isolation=chroot', '--network=host'],
      // The format of OCI has no health check.
      '--format=docker',
      ...[`--build-arg=NODE=${NODE}`, `--build-arg=BASE=${BASE}`, `--build-arg=REVISION=${REVISION}`],
      ...[`--secret=id=npmrc,src=${npmrc}`, `--file=${ROOT}/deploy/Dockerfile`, `--tag=${IMAGE}`, ROOT],
    ]);
  } finally {
    await rm(secrets, { recursive: true });
  }
}

/** As small as Debian's own images. */
const SMALL = [
  ...['doc/*', 'man/*', 'locale/*'].map((path) => `--dpkgopt=path-exclude=/usr/share/${path}`),
  '--dpkgopt=path-include=/usr/share/doc/*/copyright',
  '--include=ca-certificates,usr-is-merged',
];
/** usrmerge needs Perl, and has nothing to do on a new system. */
const WITHOUT_USRMERGE = [
  '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr',
  `--setup-hook=mkdir -p "$1/etc/apt/preferences.d" &&
    printf 'Package: usrmerge\\nPin: release *\\nPin-Priority: -1\\n' >"$1/etc/apt/preferences.d/usrmerge"`,
  '--customize-hook=rm "$1/etc/apt/preferences.d/usrmerge"',
];

/** Debian of this machine's release, from this machine's sources. */
async function createBase(host: ContainerHost): Promise<void> {
  const [, release = ''] = /^VERSION_CODENAME=(\w+)/m.exec(await readFile('/etc/os-release', 'utf8')) ?? [];
  const [sources, archive] = [join(host.folder, 'sources.list'), join(host.folder, 'base.tar')];
  await host.write(sources, await listDebianSources());
  await host.run([
    'mmdebstrap',
    '--variant=minbase',
    ...SMALL,
    ...WITHOUT_USRMERGE,
    release,
    archive,
    sources,
  ]);
  await host.run(['podman', 'import', '--quiet', archive, BASE]);
  await host.run(['rm', archive]);
}

async function listDebianSources(): Promise<string> {
  const line = 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)';
  const list = ['apt-get', 'indextargets', '--format', line, 'Created-By: Packages', 'Origin: Debian'];
  let listed = await runCommand(list);
  if (listed === '') {
    await runCommand(['apt-get', 'update']);
    listed = await runCommand(list);
  }
  return [...new Set(listed.split('\n')), ''].join('\n');
}

const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** The base with the node program and the npm of this machine, and the certificates that it trusts. */
async function createNode(host: ContainerHost): Promise<void> {
  const npm = join(await runCommand(['npm', 'root', '--global']), 'npm');
  const container = await host.run(['buildah', 'from', BASE]);
  const copy = (from: string, to: string) => host.run(['buildah', 'copy', '--quiet', container, from, to]);
  await copy(await realpath(process.execPath), '/usr/local/bin/node');
  await copy(await realpath(npm), '/usr/local/lib/node_modules/npm');
  if (existsSync(CERTIFICATES)) await copy(CERTIFICATES, CERTIFICATES);
  const link = 'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && npm --version';
  await host.run(['buildah', 'run', '--isolation=chroot', container, 'sh', '-c', link]);
  await host.run(['buildah', 'commit', '--quiet', '--rm', container, NODE]);
}

type NpmConfig = { readonly globalconfig: string; readonly userconfig: string; readonly registry: string };

/** The build must reach the registry of this machine. */
async function readNpmSettings(): Promise<string> {
  const config = JSON.parse(await runCommand(['npm', 'config', 'list', '--json'])) as NpmConfig;
  const files = [config.globalconfig, config.userconfig].filter(existsSync);
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return [...texts, `registry=${config.registry}`, `cafile=${CERTIFICATES}`, ''].join('\n');
}
