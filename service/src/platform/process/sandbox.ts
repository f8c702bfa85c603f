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
  read_only_files: 'decoders can only write to their own folder and to temporary folders of their own',
} as const;
type Protection = keyof typeof PROTECTIONS;

const NAMESPACES = 'unshare and mount (util-linux), and ';
const WITHOUT_APPARMOR = ' and, with AppArmor, --security-opt apparmor=unconfined';
/** What gives the parts, to root and to other users. */
const REMEDIES: readonly (readonly [parts: readonly Protection[], root: string, others: string])[] = [
  [['limits'], 'a POSIX shell with ulimit', 'a POSIX shell with ulimit'],
  [['no_new_privileges', 'no_capabilities'], 'setpriv (util-linux)', 'setpriv (util-linux)'],
  [
    ['other_user'],
    'setpriv (util-linux), CAP_SETUID and CAP_SETGID, and code that every user can read (not below /root)',
    'the service has to run as root',
  ],
  [
    ['no_network', 'own_processes', 'hidden_data', 'read_only_files'],
    `${NAMESPACES}CAP_SYS_ADMIN: in a container --cap-add SYS_ADMIN${WITHOUT_APPARMOR}`,
    `${NAMESPACES}user namespaces for every user: in a container ` +
      `--security-opt seccomp=deploy/seccomp.json${WITHOUT_APPARMOR}, ` +
      'on Ubuntu sysctl kernel.apparmor_restrict_unprivileged_userns=0',
  ],
];

/** Decoders get empty ones of their own. */
export const TEMPORARY_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm'];

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

type Mounts = {
  /** The program `mount`. */
  readonly tool: string;
  /** Folders that an empty file system covers; the first one also contains the working folder. */
  readonly covers: readonly string[];
  /** All other file systems become read-only. */
  readonly isReadOnly: boolean;
};

/** The sandbox layers that this system supports. Paths of tools are absolute. */
export type Layers = {
  readonly hasLimits: boolean;
  /** True when the service itself has no capabilities. */
  readonly isUnprivileged?: boolean;
  /** Namespaces: `unshare` with its flags. */
  readonly unshare?: readonly string[];
  /** Requires a mount namespace. */
  readonly mounts?: Mounts;
  /** Privileges: `setpriv` with its flags. */
  readonly setpriv?: readonly string[];
  readonly user?: User;
};

export const missingProtections = ({ protections }: Sandbox): Protection[] =>
  (Object.keys(PROTECTIONS) as Protection[]).filter((name) => !protections[name]);

/** Only root can give decoders another user. */
export const missingRequired = (sandbox: Sandbox, isRoot: boolean): Protection[] =>
  missingProtections(sandbox).filter((name) => isRoot || name !== 'other_user');

/** A line for the parts that the same remedy gives. */
export const describeRemedies = (missing: readonly string[], isRoot: boolean): string[] =>
  REMEDIES.flatMap(([parts, root, others]) => {
    const named = parts.filter((part) => missing.includes(part));
    return named.length > 0 ? [`${named.join(', ')}: ${isRoot ? root : others}`] : [];
  });

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
        ...enterNamespaces(layers),
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
  mounts,
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
    // Without the mounts, another user has no access because of the folders' modes.
    hidden_data: mounts !== undefined || user !== undefined,
    read_only_files: mounts?.isReadOnly === true,
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
 * Covers folders with empty file systems. The working folder moves into the first of them, because a program
 * reaches the covered folders through `..` of a folder below. A shell reads the list of mounts itself, since
 * each program that it starts delays the decoder. The shell remains PID 1, because PID 1 ignores signals such
 * as SIGXCPU, which would disable the CPU limit.
 */
const ENTER = `
mount=$1 tree=$2 count=$3 work=$4/work
shift 3
while [ "$count" -gt 0 ]; do
  case $1 in
    ${TEMPORARY_FOLDERS.join('|')}) kind=size=16m,mode=1777 ;;
    *) kind=size=16k,mode=0755 ;;
  esac
  "$mount" -t tmpfs -o "$kind,nosuid,nodev,noexec" tmpfs "$1" || exit 126
  shift
  count=$((count - 1))
done
if [ "$PWD" != / ]; then
  mkdir "$work" && "$mount" -c --bind . "$work" && cd "$work" || exit 126
fi
if [ "$tree" = read-only ]; then
  while read -r _ _ _ _ point flags _; do
    case $point in *%*) ;; *\\\\*) point=$(printf "$point") ;; esac
    case "$point $flags" in
      "$work "* | /proc[/\\ ]* | /sys[/\\ ]* | /dev[/\\ ]*) ;;
      ${TEMPORARY_FOLDERS.map((folder) => `"${folder} "*`).join(' | ')}) ;;
      # A file system below a covered folder has no path any more.
      *' rw'*) [ ! -e "$point" ] || "$mount" -o "remount,bind,ro\${flags#rw}" "$point" || exit 126 ;;
    esac
  done </proc/self/mountinfo
fi
"$@"
exit $?`;

function enterNamespaces({ unshare, mounts }: Layers): readonly string[] {
  if (unshare === undefined) return [];
  if (mounts === undefined) return unshare;
  const { tool, covers, isReadOnly } = mounts;
  const tree = isReadOnly ? 'read-only' : 'writable';
  return [...unshare, '/bin/sh', '-c', ENTER, 'enter', tool, tree, `${covers.length}`, ...covers];
}
