// A mount namespace of its own for images and containers: it ends with the tests, and leaves no file behind.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeMissingPackages } from '../../deploy/cluster/programs.ts';

export type ContainerHost = {
  /** Contains images, containers and volumes. It is empty outside of the namespace. */
  readonly folder: string;
  /** The command that runs `command` in the namespace. */
  enter(command: readonly string[]): [program: string, ...rest: string[]];
  /** Returns the standard output. */
  run(command: readonly string[]): Promise<string>;
  write(path: string, text: string): Promise<void>;
  close(): Promise<void>;
};

const PROGRAMS = {
  buildah: 'buildah',
  podman: 'podman',
  mmdebstrap: 'mmdebstrap',
  catatonit: 'catatonit',
  unshare: 'util-linux',
};

/** Why no image can be built here; undefined when it can. */
export function missingImageTools(): string | undefined {
  if (process.getuid?.() !== 0) return 'images are built as root only';
  return describeMissingPackages(PROGRAMS);
}

/** A build takes 2 GB. With less free memory than this, it uses the disk. */
const MEMORY_KIB = 8 * 2 ** 20;

/**
 * crun refuses cgroup v1 with controllers of v2 beside it. When the test process ends or is killed, the shell
 * reads the end of its input, and ends all that runs in the namespace.
 */
const HOLD = `
umount /sys/fs/cgroup/unified 2>/dev/null
[ "$2" = disk ] || mount -t tmpfs -o mode=0755 tmpfs "$1" || exit 1
mkdir "$1/tmp" || exit 1
cat >"$1/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$1/images"
runroot = "$1/run"
END
cat >"$1/containers.conf" <<END
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
lock_type = "file"
tmp_dir = "$1/libpod"
END
echo open
cat >/dev/null
podman rm --all --force --time 0 >/dev/null 2>&1
own=$(readlink /proc/self/ns/mnt)
for process in /proc/[0-9]*; do
  [ "$process" = /proc/$$ ] || [ "$(readlink "$process/ns/mnt")" != "$own" ] ||
    kill -KILL "\${process#/proc/}"
done 2>/dev/null
grep -o " $1[^ ]*" /proc/self/mounts | sort -r | xargs -r umount --lazy
rm -rf "$1"`;

export async function openContainerHost(): Promise<ContainerHost> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-image-'));
  const storage = (await availableKib()) > MEMORY_KIB ? 'memory' : 'disk';
  const env = {
    PATH: `${process.env['PATH']}:/usr/sbin:/sbin`,
    HOME: process.env['HOME'],
    TMPDIR: join(folder, 'tmp'),
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
  };
  const shell = ['sh', '-c', HOLD, 'hold', folder, storage];
  const holder = spawn('unshare', ['--mount', '--propagation', 'private', ...shell], {
    env,
    // Its own session: a signal to the group of the tests must not end it before it has cleaned up.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'close');
  const [answer] = (await Promise.race([once(holder.stdout, 'data'), ended])) as [unknown];
  if (!String(answer).startsWith('open')) throw new Error('a mount namespace cannot be created here');
  const enter: ContainerHost['enter'] = (command) => [
    'nsenter',
    `--mount=/proc/${holder.pid}/ns/mnt`,
    'env',
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...command,
  ];
  const run = (command: readonly string[]) => runCommand(enter(command));
  return {
    folder,
    enter,
    run,
    write: async (path, text) => {
      await run(['sh', '-c', 'printf %s "$2" >"$1"', 'write', path, text]);
    },
    close: async () => {
      holder.stdin.end();
      await ended;
    },
  };
}

async function availableKib(): Promise<number> {
  const [, kib] = /^MemAvailable:\s+(\d+) kB/m.exec(await readFile('/proc/meminfo', 'utf8')) ?? [];
  return Number(kib);
}

const execute = promisify(execFile);
const SHOWN_CHARACTERS = 3000;

/** Fails with the end of what the program wrote. */
export async function runCommand([program = '', ...rest]: readonly string[]): Promise<string> {
  const { stdout } = await execute(program, rest, { maxBuffer: 2 ** 26 }).catch(
    (cause: { readonly stdout: string; readonly stderr: string; readonly message: string }) => {
      const written = `${cause.stdout}\n${cause.stderr}`.trim().slice(-SHOWN_CHARACTERS);
      throw new Error(`${cause.message.split('\n')[0]}\n${written}`, { cause });
    },
  );
  return stdout.trim();
}
