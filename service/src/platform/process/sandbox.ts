// Builds the command line of a sandboxed program: resource limits, no network, no privileges, no data.

/** Protections of a decoder process. Each depends on the support of the system. */
export const PROTECTIONS = {
  limits: 'memory, CPU time, file size and open files are limited by the kernel',
  no_new_privileges: 'set-user-ID programs grant nothing',
  no_capabilities: 'root rights are dropped',
  other_user: "decoders run under a user id that is not the service's",
  no_network: 'decoders have a network namespace without interfaces',
  own_processes: 'decoders see no other process and end with all that they start',
  hidden_data: 'the data folder cannot be read',
} as const;
type Protection = keyof typeof PROTECTIONS;

/** `addressBytes` suits native programs; Node reserves more than it uses and is limited by `dataBytes`. */
export type ProcessLimits = {
  /** For the whole lifetime of the process. */
  readonly cpuSeconds: number;
  readonly fileBytes: number;
  readonly openFiles: number;
  readonly addressBytes?: number;
  readonly dataBytes?: number;
};

export type User = { readonly uid: number; readonly gid: number };

type Command = { readonly file: string; readonly args: readonly string[] };

export type Sandbox = {
  readonly protections: Readonly<Record<Protection, boolean>>;
  /** The user of decoders; undefined: the user of the service. */
  readonly user: User | undefined;
  /** Wraps a program. The environment is the one of the spawn call. */
  command(program: Command, limits: ProcessLimits): Command;
};

/** The sandbox layers that this system supports. Paths of tools are absolute. */
export type Layers = {
  readonly hasLimits: boolean;
  /** True when the service itself has no capabilities. */
  readonly isUnprivileged?: boolean;
  /** Namespaces: `unshare` with its flags. */
  readonly unshare?: readonly string[];
  /** Mounts an empty file system over the folders. Requires a mount namespace. */
  readonly hide?: { readonly mount: string; readonly folders: readonly string[] };
  /** Privileges: `setpriv` with its flags. */
  readonly setpriv?: readonly string[];
  readonly user?: User;
};

export const missingProtections = ({ protections }: Sandbox): Protection[] =>
  (Object.keys(PROTECTIONS) as Protection[]).filter((name) => !protections[name]);

/** A sandbox with resource limits only, for tests and systems without further support. */
export const createLimitsOnlySandbox = (): Sandbox => buildSandbox({ hasLimits: true });

export function buildSandbox(layers: Layers): Sandbox {
  return {
    protections: protectionsOf(layers),
    user: layers.user,
    command: ({ file, args }, limits) => ({
      file: '/bin/sh',
      args: [
        '-c',
        limitScript(layers.hasLimits ? limits : undefined),
        'sandbox',
        ...namespaces(layers),
        ...(layers.setpriv ?? []),
        file,
        ...args,
      ],
    }),
  };
}

function protectionsOf({
  hasLimits,
  isUnprivileged = false,
  unshare = [],
  hide,
  setpriv = [],
  user,
}: Layers): Sandbox['protections'] {
  return {
    limits: hasLimits,
    no_new_privileges: setpriv.includes('--no-new-privs'),
    no_capabilities: isUnprivileged || setpriv.includes('--bounding-set=-all'),
    other_user: user !== undefined,
    no_network: unshare.includes('--net'),
    own_processes: unshare.includes('--pid'),
    // Without the mount, another user has no access because of the folders' modes.
    hidden_data: hide !== undefined || user !== undefined,
  };
}

const KIB = 1024;
const BLOCK = 512;
/** Between SIGXCPU, which identifies the reason, and SIGKILL. */
const CPU_GRACE_SECONDS = 5;

/** `ulimit` fails under a lower limit of the service, which then applies. The OOM killer prefers decoders. */
function limitScript(limits: ProcessLimits | undefined): string {
  const lines = limits === undefined ? [] : limitLines(limits).map((line) => `${line} 2>/dev/null`);
  return [...lines, '{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null', 'exec "$@"'].join('\n');
}

function limitLines({ cpuSeconds, fileBytes, openFiles, addressBytes, dataBytes }: ProcessLimits): string[] {
  const seconds = Math.ceil(cpuSeconds);
  return [
    'ulimit -c 0',
    `ulimit -S -t ${seconds}`,
    `ulimit -H -t ${seconds + CPU_GRACE_SECONDS}`,
    `ulimit -f ${Math.ceil(fileBytes / BLOCK)}`,
    `ulimit -n ${openFiles}`,
    ...(addressBytes === undefined ? [] : [`ulimit -v ${Math.ceil(addressBytes / KIB)}`]),
    ...(dataBytes === undefined ? [] : [`ulimit -d ${Math.ceil(dataBytes / KIB)}`]),
  ];
}

/**
 * Mounts an empty file system over each folder; open files stay usable. The shell remains PID 1,
 * because PID 1 ignores signals such as SIGXCPU, which would disable the CPU limit.
 */
const ENTER = `
mount=$1
count=$2
shift 2
while [ "$count" -gt 0 ]; do
  "$mount" -t tmpfs -o size=4k,mode=0555,nosuid,nodev,noexec tmpfs "$1" || exit 126
  shift
  count=$((count - 1))
done
"$@"
exit $?`;

function namespaces({ unshare, hide }: Layers): readonly string[] {
  if (unshare === undefined) return [];
  const folders = hide?.folders ?? [];
  return [...unshare, '/bin/sh', '-c', ENTER, 'enter', hide?.mount ?? '', String(folders.length), ...folders];
}
