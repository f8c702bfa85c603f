// A reader of a quick start: saves its files in an empty folder, and runs its commands section by section.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type CodeBlock, readCodeBlocks } from '../support/http/code-blocks.ts';
import { SECRETS } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The manifest and lock of an application with Nuxt, which has other peers than the clients. */
const NUXT = join(import.meta.dirname, 'nuxt');
/** The versions of the first one that has a package. That of the clients has Next.js. */
const OWN_LOCK = readLock(join(ROOT, 'package-lock.json'));
const LOCKS = [
  OWN_LOCK,
  ...[import.meta.dirname, NUXT].map((root) => readLock(join(root, 'package-lock.json'))),
];

const WEBHOOK_SECRET = 'whsec_cXVpY2stc3RhcnQtcXVpY2stc3RhcnQtcXVpY2stc3RhcnQ=';

type LockedPackage = {
  readonly version?: string;
  /** The folder of a workspace. */
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
type Lock = Readonly<Record<string, LockedPackage>>;

type Visit = {
  /** Of the documents' readers; each gets a folder of its own in it. */
  readonly folder: string;
  /** Of the service, in place of http://127.0.0.1:8080. */
  readonly address: string;
  /** In place of port 3000. */
  readonly port: number;
  /** The packages that this one needs are in place before the document installs it. */
  readonly needsOf?: string;
  /** The application begins with the lock of Nuxt: `npm install` takes the same versions every time. */
  readonly hasNuxt?: boolean;
};

export type QuickStartReader = {
  readonly origin: string;
  /** The folder of the application. */
  readonly folder: string;
  /** Runs the commands below a heading; those in the background go on until `end`. */
  run(section: string): Promise<string>;
  /** What the commands in the background have printed. */
  printed(): string;
  /** Headings above commands that `run` has not had. */
  unread(): readonly string[];
  end(): Promise<void>;
};

const START = 'Before you start';

export async function openQuickStart(document: string, visit: Visit): Promise<QuickStartReader> {
  const home = join(visit.folder, document.replace(/\W/g, '-'));
  const folder = join(home, 'application');
  const sections = readSections(document);
  await mkdir(folder, { recursive: true });
  for (const { code, marker } of [...sections.values()].flat()) {
    if (marker?.name !== 'file') continue;
    await mkdir(dirname(join(folder, marker.value)), { recursive: true });
    await writeFile(join(folder, marker.value), `${replaceAddresses(code, visit)}\n`);
  }
  if (visit.needsOf !== undefined) await linkNeeds(folder, visit.needsOf);
  if (visit.hasNuxt)
    for (const name of ['package.json', 'package-lock.json'])
      await copyFile(join(NUXT, name), join(folder, name));
  const background: Shell[] = [];
  const unread = new Set(sections.keys());
  return {
    unread: () => [...unread],
    printed: () => background.map(({ printed }) => printed()).join(''),
    folder,
    origin: `http://localhost:${visit.port}`,
    run: async (section) => {
      const blocks = sections.get(section);
      if (!blocks) throw new Error(`${document} has no section "${section}"`);
      unread.delete(section);
      let output = '';
      for (const block of blocks.filter(({ language }) => language === 'sh')) {
        const code = pinVersions(replaceAddresses(block.code, visit));
        const cwd = section === START ? home : folder;
        const shell = startShell(code, { ...visit, cwd, home });
        if (block.marker?.name === 'in the background') background.push(shell);
        else output += await shell.ended;
      }
      return output;
    },
    end: async () => {
      for (const { child } of background) await endGroup(child);
    },
  };
}

/** Blocks by the heading above them. Each one is a file, or commands. */
function readSections(document: string): ReadonlyMap<string, readonly CodeBlock[]> {
  const lines = readFileSync(join(ROOT, document), 'utf8').split('\n');
  const sections = new Map<string, CodeBlock[]>();
  for (const block of readCodeBlocks(document)) {
    const above = lines.slice(0, block.line).findLast((line) => line.startsWith('## '));
    if (block.marker?.name !== 'file' && block.language !== 'sh')
      throw new Error(`${document}:${block.line} is neither a file nor commands`);
    const section = above?.slice('## '.length) ?? '';
    sections.set(section, [...(sections.get(section) ?? []), block]);
  }
  return sections;
}

const replaceAddresses = (text: string, { address, port }: Visit): string =>
  text
    .replaceAll('http://127.0.0.1:8080', address)
    .replaceAll('<the address of this repository>', 'repository')
    .replaceAll('<service key>', SECRETS.SERVICE_API_KEY)
    .replaceAll('<webhook secret>', WEBHOOK_SECRET)
    .replace(/(localhost:|port: |"127\.0\.0\.1", )3000\b/g, `$1${port}`);

/** `npm install next` becomes `npm install next@<locked version>`. */
const pinVersions = (code: string): string =>
  code.replace(/^npm install .*$/gm, (line) =>
    line.replace(/(?<= )@?[a-z][\w/-]*(?= |$)/g, (name) => {
      const version = LOCKS.map((lock) => lock[`node_modules/${name}`]?.version).find(Boolean);
      return name === 'install' || version === undefined ? name : `${name}@${version}`;
    }),
  );

type ShellOptions = Pick<Visit, 'address' | 'port'> & { readonly cwd: string; readonly home: string };

/** In place of what the tests have already: the clone, and a service that runs. */
const PRELUDE = `
set -eE -o pipefail
[ ! -f "$EXPORTS" ] || . "$EXPORTS"
# npm ci has built the components.
git() { mkdir -p mediary/packages/elements; cp -r "$ROOT/packages/elements/dist" mediary/packages/elements/; }
# A server in the background may not listen yet.
curl() { command curl --retry 20 --retry-delay 1 --retry-connrefused "$@"; }
npm() {
  case "$1" in
    ci) ;;
    run)
      for name in "$@"; do
        case "$name" in
          @mediary/*) node "$ROOT/packages/\${name#@mediary/}/build.ts" "packages/\${name#@mediary/}/dist" ;;
        esac
      done ;;
    *) command npm "$@" --prefer-offline --no-audit --no-fund ;;
  esac
}
npx() {
  case "$1" in
    mediary) node "$ROOT/node_modules/.bin/mediary" "\${@:2}" --url "$ADDRESS" --secret "$SECRET" ;;
    *) command npx "$@" ;;
  esac
}
`;

/** With that of the machine, such as its certificates, and without that of the tests. */
const OWN_ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:NODE_ENV|TEST|VITEST)/.test(name)),
);

type Shell = {
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
  readonly printed: () => string;
};

function startShell(code: string, { cwd, home, address, port }: ShellOptions): Shell {
  const isInClone = existsSync(join(home, 'mediary')) && cwd === home;
  const script = `${PRELUDE}\n${code}\nexport -p > "$EXPORTS"`;
  const child = spawn('bash', ['-c', script], {
    cwd: isInClone ? join(home, 'mediary') : cwd,
    // A group of its own, which ends as a whole.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...OWN_ENVIRONMENT,
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      EXPORTS: join(home, 'exports.sh'),
      ROOT,
      ADDRESS: address,
      SECRET: WEBHOOK_SECRET,
      MEDIARY_SERVICE_KEY: SECRETS.SERVICE_API_KEY,
      // Of the servers of Next.js and Nuxt.
      PORT: String(port),
      NO_COLOR: '1',
      NEXT_TELEMETRY_DISABLED: '1',
      NUXT_TELEMETRY_DISABLED: '1',
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = once(child, 'close').then(([status]) => {
    if (status !== 0) throw new Error(`${code}\nended with ${status}:\n${output}`);
    return output;
  });
  // Those in the background are ended by a signal.
  ended.catch(() => {});
  return { child, ended, printed: () => output };
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  // A development server with an open page does not end by SIGTERM.
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await ended;
}

/** Hard links: an installation from the registry would take most of the time of these tests. */
async function linkNeeds(folder: string, name: string): Promise<void> {
  for (const needed of findNeeds(name)) {
    const place = join(folder, 'node_modules', needed);
    await mkdir(dirname(place), { recursive: true });
    const copy = (flags: string) =>
      promisify(execFile)('cp', [flags, join(ROOT, 'node_modules', needed), place]);
    // The temporary folder may lie on another file system.
    await copy('-al').catch(() => copy('-a'));
  }
}

/** Of the registry, with what they need themselves. */
function findNeeds(name: string): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (each: string): void => {
    const installed = OWN_LOCK[`node_modules/${each}`];
    if (!installed || found.has(each) || !existsSync(join(ROOT, 'node_modules', each))) return;
    if (!installed.link) found.add(each);
    const { dependencies, optionalDependencies } =
      (installed.link && OWN_LOCK[installed.resolved ?? '']) || installed;
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) add(needed);
  };
  add(name);
  return found;
}

function readLock(file: string): Lock {
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly packages: Lock }).packages;
}
