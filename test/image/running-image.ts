// The image of deploy/Dockerfile, built once for all tests of a file, and its containers.
import { join } from 'node:path';
import { freePort } from '../support/http/free-port.ts';
import { eventually } from '../support/service.ts';
import { environmentOf, getService } from '../support/service/compose-files.ts';
import { buildImage, IMAGE } from './build-image.ts';
import {
  type Container,
  type ContainerEngine,
  type ContainerSpec,
  type ImageConfig,
  openContainerEngine,
} from './container-engine.ts';
import { type ContainerHost, openContainerHost } from './container-host.ts';

type ImageDescription = {
  readonly Size: number;
  readonly Config: ImageConfig;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Labels: Readonly<Record<string, string>>;
};

export type RunningService = { readonly container: Container; readonly origin: string; readonly url: string };

type SingleOptions = Pick<ContainerSpec, 'seccompProfile'> & {
  /** The volume. */
  readonly data: string;
  readonly settings: Readonly<Record<string, string>>;
};

export type RunnableImage = {
  readonly description: ImageDescription;
  readonly host: ContainerHost;
  readonly engine: ContainerEngine;
  /** Returns a folder of the user of the image, which Docker does for a volume. */
  createFolder(name: string): Promise<string>;
  start(spec: ContainerSpec): Container;
  /** As compose.single.yaml does it, but at a free port. */
  startSingle(options: SingleOptions): Promise<RunningService>;
  /** What the health check of the image returns. */
  isHealthy(container: Container): Promise<boolean>;
  stopContainers(): Promise<void>;
};

export const single = getService('deploy/compose.single.yaml', 'mediary');

/** `say` is called with what was measured. */
export async function openImage(say: (line: string) => void): Promise<RunnableImage> {
  const host = await openContainerHost();
  try {
    const from = Date.now();
    await buildImage(host);
    const [description] = JSON.parse(await host.run(['podman', 'image', 'inspect', IMAGE]));
    say(`the image has ${Math.round(description.Size / 1e6)} MB, built in ${secondsSince(from)} s`);
    const engine = await openContainerEngine(host, description.Config);
    const { withoutPodman } = engine;
    if (withoutPodman === undefined) say('Podman runs its containers');
    else say(`no containers on this machine: the image's root runs by chroot. Podman: ${withoutPodman}`);
    return describeImage({ description, host, engine });
  } catch (error) {
    await host.close();
    throw error;
  }
}

export const secondsSince = (from: number): string => ((Date.now() - from) / 1000).toFixed(1);

function describeImage(image: Pick<RunnableImage, 'description' | 'host' | 'engine'>): RunnableImage {
  const { description, host, engine } = image;
  const started: Container[] = [];
  const start = (spec: ContainerSpec) => {
    const container = engine.start(spec);
    started.push(container);
    return container;
  };
  return {
    ...image,
    createFolder: async (name) => {
      const folder = join(host.folder, name);
      const [uid = '', gid = ''] = description.Config.User.split(':');
      await host.run(['install', '-d', '-o', uid, '-g', gid, '-m', '0700', folder]);
      return folder;
    },
    start,
    startSingle: (options) => startSingle(start, options),
    isHealthy: (container) =>
      // The first word is CMD.
      container.execute(description.Healthcheck.Test.slice(1)).then(
        () => true,
        () => false,
      ),
    stopContainers: async () => {
      await Promise.all(started.splice(0).map((container) => container.stop()));
    },
  };
}

async function startSingle(
  start: RunnableImage['start'],
  { data, settings, seccompProfile }: SingleOptions,
): Promise<RunningService> {
  const [port, healthPort] = [await freePort(), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  const container = start({
    name: `single-${port}`,
    service: single,
    environment: {
      ...environmentOf(single),
      ...{ PUBLIC_BASE_URL: origin, PORT: `${port}`, HEALTH_PORT: `${healthPort}` },
      ...settings,
    },
    volumes: { '/data': data },
    seccompProfile,
  });
  await waitUntilReady(container, origin);
  return { container, origin, url: `${origin}/api/v1` };
}

/** Fails with the log when the container ends before. */
export async function waitUntilReady(container: Container, origin: string): Promise<void> {
  const ending = container.ended.then((code) => {
    throw new Error(`the container ended with ${code}:\n${container.log().slice(-3000)}`);
  });
  const answers = () =>
    fetch(`${origin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await Promise.race([eventually(answers, (isReady) => isReady), ending]);
}
