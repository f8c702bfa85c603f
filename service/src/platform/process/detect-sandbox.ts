// Detects at start which sandbox layers this system supports, by running them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSandbox, type Layers, type ProcessLimits, type Sandbox, type User } from './sandbox.ts';

type SandboxNeeds = {
  /** Existing folders that decoders must not see. */
  readonly hidden: readonly string[];
  /** Programs and code that decoders must be able to read. */
  readonly readable: readonly string[];
  /** The user of decoders when the service runs as root. */
  readonly user: User;
};

const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];
const CHECK_MS = 5000;
const LIMITS: ProcessLimits = { cpuSeconds: 5, fileBytes: 0, openFiles: 64, addressBytes: 2 ** 30 };
const PRIVATE = ['--net', '--ipc', '--mount'];
const OWN_PROCESSES = ['--pid', '--fork', '--kill-child=KILL'];
/** Strongest first. Containers often allow no namespaces, or no second mount of /proc. */
const NAMESPACES = [
  [...PRIVATE, ...OWN_PROCESSES, '--mount-proc'],
  [...PRIVATE, ...OWN_PROCESSES],
  PRIVATE,
  ['--net'],
];
const DROP = ['--bounding-set=-all', '--inh-caps=-all'];
const HARDEN = ['--no-new-privs', '--pdeathsig', 'KILL'];

export async function detectSandbox(needs: SandboxNeeds): Promise<Sandbox> {
  const [unshare, setpriv, mount] = await Promise.all(['unshare', 'setpriv', 'mount'].map(findTool));
  const isRoot = process.getuid?.() === 0;
  const spaces = unshare === undefined ? [] : namespaceLayers({ unshare, mount, isRoot, needs });
  const rights = setpriv === undefined ? [] : rightsLayers({ setpriv, isRoot, user: needs.user });
  const base = { isUnprivileged: !isRoot };
  const hasLimits = await works({ hasLimits: true }, ['/bin/sh', '-c', 'test "$(ulimit -v)" = 1048576']);
  for (const space of [...spaces, {}]) {
    for (const right of [...rights, {}]) {
      const layers = { ...base, hasLimits, ...space, ...right };
      if (await works(layers, canRead(needs.readable))) return buildSandbox(layers);
    }
  }
  return buildSandbox({ ...base, hasLimits });
}

type Spaces = {
  readonly unshare: string;
  readonly mount: string | undefined;
  readonly isRoot: boolean;
  readonly needs: SandboxNeeds;
};

/** Without root, namespaces require a user namespace. */
const namespaceLayers = ({ unshare, mount, isRoot, needs }: Spaces): Omit<Layers, 'hasLimits'>[] =>
  NAMESPACES.map((flags) => ({
    unshare: [unshare, ...(isRoot ? [] : ['--user', '--map-root-user']), ...flags],
    ...(mount && flags.includes('--mount') && { hide: { mount, folders: outermost(needs.hidden) } }),
  }));

/** Hiding a folder also hides the folders below it. */
const outermost = (folders: readonly string[]): string[] =>
  [...new Set(folders)].filter((folder) => !folders.some((other) => folder.startsWith(`${other}/`)));

type Rights = { readonly setpriv: string; readonly isRoot: boolean; readonly user: User };

/** Falls back to root without capabilities when another user cannot read the code. */
function rightsLayers({ setpriv, isRoot, user }: Rights): Omit<Layers, 'hasLimits'>[] {
  const other = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  return [
    ...(isRoot ? [{ setpriv: [setpriv, ...other, ...DROP, ...HARDEN], user }] : []),
    { setpriv: [setpriv, ...DROP, ...HARDEN] },
    { setpriv: [setpriv, ...HARDEN] },
  ];
}

const canRead = (paths: readonly string[]): readonly string[] => [
  '/bin/sh',
  '-c',
  'for path; do test -r "$path" || exit 1; done',
  'sh',
  ...paths,
];

async function works(layers: Layers, [program = '', ...rest]: readonly string[]): Promise<boolean> {
  const { file, args } = buildSandbox(layers).command({ file: program, args: rest }, LIMITS);
  const child = spawn(file, args, {
    env: {},
    cwd: '/',
    stdio: 'ignore',
    timeout: CHECK_MS,
    killSignal: 'SIGKILL',
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}

async function findTool(name: string): Promise<string | undefined> {
  for (const folder of TOOL_FOLDERS) {
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false; // findTool searches the next folder.
  }
}
