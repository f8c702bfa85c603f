// Runs containers of the image, with Podman where this machine can, else by chroot.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import type { ComposeService } from '../support/service/compose-files.ts';
import { BASE, IMAGE } from './build-image.ts';
import { type ContainerHost, runCommand } from './container-host.ts';

export type ImageConfig = {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
};

export type ContainerSpec = {
  readonly name: string;
  /** How the compose file runs it. */
  readonly service: ComposeService;
  readonly environment: Readonly<Record<string, string>>;
  /** Folders of the host by their paths in the container. */
  readonly volumes: Readonly<Record<string, string>>;
  /** Instead of the entrypoint of the image and the command of the service. */
  readonly program?: readonly string[];
  /** Instead of the profile of the service. */
  readonly seccompProfile?: string | undefined;
};

export type Container = {
  readonly ended: Promise<number | null>;
  /** What it has written. */
  log(): string;
  /** Runs a program in it, with its environment. Fails unless it exits with 0. */
  execute(command: readonly string[]): Promise<string>;
  /** Returns the exit code, after SIGTERM. */
  stop(): Promise<number | null>;
};

export type ContainerEngine = {
  /** Why chroot replaces Podman; undefined if it does not. */
  readonly withoutPodman: string | undefined;
  start(spec: ContainerSpec): Container;
};

type Commands = {
  readonly run: (spec: ContainerSpec) => readonly string[];
  readonly execute: (spec: ContainerSpec, pid: number, command: readonly string[]) => readonly string[];
};

const DEPLOY = resolve(import.meta.dirname, '../../deploy');

/** Tries what the compose files need. TEST_IMAGE_BY=chroot shows what a machine without Podman does. */
export async function openContainerEngine(
  host: ContainerHost,
  config: ImageConfig,
): Promise<ContainerEngine> {
  const withoutPodman =
    process.env['TEST_IMAGE_BY'] === 'chroot' ? 'TEST_IMAGE_BY is chroot' : await tryPodman(host);
  const commands =
    withoutPodman === undefined
      ? podmanCommands
      : chrootCommands(config, { host, image: await host.run(['podman', 'image', 'mount', IMAGE]) });
  return { withoutPodman, start: (spec) => startContainer(host, commands, spec) };
}

async function tryPodman(host: ContainerHost): Promise<string | undefined> {
  const hardened = ['--read-only', '--read-only-tmpfs=false', '--cap-drop=ALL', '--init', '--network=host'];
  const limits = ['--memory=256m', '--cpus=1', '--pids-limit=64'];
  return host.run(['podman', 'run', '--rm', ...hardened, ...limits, BASE, 'true']).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

function startContainer(host: ContainerHost, commands: Commands, spec: ContainerSpec): Container {
  const [program, ...rest] = host.enter(commands.run(spec));
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    ended,
    log: () => written,
    execute: (command) => runCommand(host.enter(commands.execute(spec, child.pid ?? 0, command))),
    stop: () => {
      // Podman passes the signal on.
      child.kill('SIGTERM');
      return ended;
    },
  };
}

const listOptions = (name: string, values: Readonly<Record<string, string>>, separator: string): string[] =>
  Object.entries(values).map(([key, value]) => `--${name}=${key}${separator}${value}`);

const podmanCommands: Commands = {
  run: ({ name, service, environment, volumes, program, seccompProfile }) => {
    const securityOptions = service.security_opt.map((option) =>
      option.replace(
        /^seccomp=(.*)/,
        (_, file: string) => `seccomp=${seccompProfile ?? `${DEPLOY}/${file}`}`,
      ),
    );
    const [entrypoint, command] = program ? [program, []] : [service.entrypoint, service.command ?? []];
    const mounts = Object.fromEntries(Object.entries(volumes).map(([path, folder]) => [folder, path]));
    return [
      ...['podman', 'run', '--rm', `--name=${name}`, '--network=host', '--health-interval=disable'],
      ...(service.read_only ? ['--read-only', '--read-only-tmpfs=false'] : []),
      ...(service.init ? ['--init'] : []),
      ...service.cap_drop.map((capability) => `--cap-drop=${capability}`),
      ...securityOptions.map((option) => `--security-opt=${option}`),
      ...(service.tmpfs ?? []).map((mount) => `--tmpfs=${mount}`),
      ...[`--memory=${service.mem_limit}`, `--cpus=${service.cpus}`, `--pids-limit=${service.pids_limit}`],
      ...(service.shm_size === undefined ? [] : [`--shm-size=${service.shm_size}`]),
      ...listOptions('env', environment, '='),
      ...listOptions('volume', mounts, ':'),
      ...(entrypoint === undefined ? [] : [`--entrypoint=${JSON.stringify(entrypoint)}`]),
      ...[IMAGE, ...command],
    ];
  },
  execute: ({ name }, _, command) => ['podman', 'exec', name, ...command],
};

const ENTER_ROOT = `
image=$1 root=$2
shift 2
mkdir -p "$root"
mount --bind "$image" "$root" && mount -o remount,bind,ro "$root" || exit 125
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 125
mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/tmp" || exit 125
while [ "$1" != -- ]; do
  mount --bind "$1" "$root$2" || exit 125
  shift 2
done
shift
exec chroot "$root" "$@"`;

/** A read-only root, no capabilities and no new privileges, but neither limits nor seccomp. */
function chrootCommands(
  { User, Env, Entrypoint, Cmd }: ImageConfig,
  { host, image }: { readonly host: ContainerHost; readonly image: string },
): Commands {
  const [uid, gid] = User.split(':');
  const user = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const without = ['--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];
  const rights = ['setpriv', ...user, ...without, '--pdeathsig=KILL'];
  const settingsOf = ({ environment }: ContainerSpec) => [
    ...Env,
    ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
  ];
  return {
    run: (spec) => {
      const { name, service, volumes, program } = spec;
      const started = program ?? [...(service.entrypoint ?? Entrypoint), ...(service.command ?? Cmd)];
      return [
        ...['unshare', '--mount', '--propagation', 'private', 'sh', '-c', ENTER_ROOT, 'enter'],
        ...[image, join(host.folder, 'roots', name)],
        ...Object.entries(volumes).flatMap(([path, folder]) => [folder, path]),
        ...['--', ...rights, 'env', '-i', ...settingsOf(spec), ...started],
      ];
    },
    execute: (spec, pid, command) => [
      ...['nsenter', `--target=${pid}`, '--mount', '--root', '--wd=/'],
      ...[...rights, 'env', '-i', ...settingsOf(spec), ...command],
    ],
  };
}
