// Detects at start which sandbox layers this system supports, by running them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chown, constants, lstat, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  buildSandbox,
  type Layers,
  type ProcessLimits,
  type Sandbox,
  TEMPORARY_FOLDERS,
  type User,
} from './sandbox.ts';

type SandboxOptions = {
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

export async function detectSandbox(options: SandboxOptions): Promise<Sandbox> {
  const [unshare, setpriv, mount] = await Promise.all(['unshare', 'setpriv', 'mount'].map(findTool));
  const isRoot = process.getuid?.() === 0;
  const covers = await findCovers(options);
  const spaces = unshare === undefined ? [] : namespaceLayers({ unshare, mount, isRoot, covers });
  const rights = setpriv === undefined ? [] : rightsLayers({ setpriv, isRoot, user: options.user });
  const base = { isUnprivileged: !isRoot };
  const hasLimits = await works({ hasLimits: true }, ['/bin/sh', '-c', 'test "$(ulimit -v)" = 1048576']);
  for (const space of [...spaces, {}]) {
    for (const right of [...rights, {}]) {
      const layers = { ...base, hasLimits, ...space, ...right };
      if (await isUsable(layers, options)) return buildSandbox(layers);
    }
  }
  return buildSandbox({ ...base, hasLimits });
}

/** Usable layers run the programs, and hide the data if they have mounts for it. */
const isUsable = (layers: Layers, { readable, hidden: [data] }: SandboxOptions): Promise<boolean> =>
  layers.mounts === undefined || data === undefined
    ? works(layers, check({ readable, absent: [] }))
    : hidesData(layers, { readable, data });

/** Temporary folders that contain programs stay as they are. */
async function findCovers({ hidden, readable }: SandboxOptions): Promise<string[]> {
  const covers = [...hidden];
  for (const folder of TEMPORARY_FOLDERS) {
    const isFolder = await lstat(folder).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (isFolder && !readable.some((path) => path.startsWith(`${folder}/`))) covers.push(folder);
  }
  return outermost(covers);
}

type Spaces = {
  readonly unshare: string;
  readonly mount: string | undefined;
  readonly isRoot: boolean;
  readonly covers: readonly string[];
};

/** Without root, namespaces require a user namespace. */
const namespaceLayers = ({ unshare, mount, isRoot, covers }: Spaces): Omit<Layers, 'hasLimits'>[] =>
  NAMESPACES.flatMap((flags) => {
    const layer = { unshare: [unshare, ...(isRoot ? [] : ['--user', '--map-root-user']), ...flags] };
    if (!mount || !flags.includes('--mount')) return [layer];
    const withMounts = (isReadOnly: boolean) => ({ ...layer, mounts: { tool: mount, covers, isReadOnly } });
    return [withMounts(true), withMounts(false), layer];
  });

/** Covering a folder also covers the folders below it. */
const outermost = (folders: readonly string[]): string[] =>
  [...new Set(folders)].filter((folder) => !folders.some((other) => folder.startsWith(`${other}/`)));

type DataCheck = { readonly readable: readonly string[]; readonly data: string };

/** A planted file cannot be reached from a working folder beside it, nor through the service's process. */
async function hidesData(layers: Layers, { readable, data }: DataCheck): Promise<boolean> {
  const folder = await mkdtemp(join(data, 'sandbox-'));
  try {
    const file = join(folder, 'planted');
    await writeFile(file, '', { mode: 0o600 });
    const cwd = await mkdtemp(join(folder, 'work-'));
    if (layers.user) await chown(cwd, layers.user.uid, layers.user.gid);
    const absent = [file, '../planted', `/proc/${process.pid}/root${file}`];
    return await works(layers, check({ readable, absent }), cwd);
  } finally {
    await rm(folder, { recursive: true });
  }
}

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

type Paths = { readonly readable: readonly string[]; readonly absent: readonly string[] };

/** One process asks for all paths: each start of a sandbox takes a dozen of them. */
const check = ({ readable, absent }: Paths): readonly string[] => [
  '/bin/sh',
  '-c',
  `count=$1; shift
for path; do
  if [ "$count" -gt 0 ]; then test -r "$path"; else ! test -e "$path"; fi || exit 1
  count=$((count - 1))
done`,
  'sh',
  String(readable.length),
  ...readable,
  ...absent,
];

async function works(
  layers: Layers,
  [program = '', ...rest]: readonly string[],
  cwd = '/',
): Promise<boolean> {
  const { file, args } = buildSandbox(layers).command({ file: program, args: rest }, LIMITS);
  const child = spawn(file, args, {
    env: {},
    cwd,
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
