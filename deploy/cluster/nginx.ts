// nginx in front of the API processes, with deploy/nginx.conf and the addresses of this machine.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from './programs.ts';
import type { ProcessSpec } from './supervised-process.ts';

type NginxSettings = {
  readonly folder: string;
  readonly logFolder: string;
  readonly port: number;
  readonly apiPorts: readonly number[];
  /** Folder of the disk store, where nginx sends segments. */
  readonly storeFolder?: string;
  /** Whether nginx asks the service only once a second for each segment. */
  readonly hasPopularSegments?: boolean;
};

const MODEL = join(import.meta.dirname, '../nginx.conf');
const SEGMENTS_MODEL = join(import.meta.dirname, '../nginx-segments.conf');
const MODEL_STORE = '/var/lib/mediary/objects/';

export async function describeNginx({
  folder,
  logFolder,
  port,
  apiPorts,
  storeFolder,
  hasPopularSegments = false,
}: NginxSettings): Promise<ProcessSpec> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'nginx.conf');
  const withStore = (text: string) => (storeFolder ? text.replace(MODEL_STORE, `${storeFolder}/`) : text);
  const site = toLocalSite(await readFile(MODEL, 'utf8'), port, apiPorts);
  await writeFile(
    join(folder, 'mediary.conf'),
    withStore(hasPopularSegments ? withSegments(site, folder) : site),
  );
  await writeFile(join(folder, SEGMENTS), withStore(await readFile(SEGMENTS_MODEL, 'utf8')));
  await writeFile(file, renderMain(folder));
  return {
    name: 'nginx',
    command: [findProgram('nginx') ?? 'nginx', '-p', folder, '-c', file, '-e', 'stderr'],
    environment: process.env,
    logFolder,
    isReady: () => respondsAt(`http://127.0.0.1:${port}/healthz`),
    stopSignal: 'SIGQUIT',
  };
}

export const respondsAt = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

/** Replaces the addresses of the model. Throws where it lacks a line, because the model may be edited. */
export function toLocalSite(model: string, port: number, apiPorts: readonly number[]): string {
  const [line] = /^ *server api-1\.internal:8080(.*);$/m.exec(model) ?? [];
  if (line === undefined || !model.includes('listen 80;'))
    throw new Error(`${MODEL} has no line "server api-1.internal:8080 …;" or no line "listen 80;"`);
  const servers = apiPorts.map((apiPort) => line.replace('api-1.internal:8080', `127.0.0.1:${apiPort}`));
  return model
    .replace(/^ *server api-[2-9]\.internal:8080.*\n/gm, '')
    .replace(line, servers.join('\n'))
    .replace('listen 80;', `listen 127.0.0.1:${port};`);
}

const SEGMENTS = 'mediary-segments.conf';

/** Lets the lines for nginx-segments.conf count. Throws where the model lacks one. */
export function withSegments(site: string, folder: string): string {
  const lines = ['# proxy_cache_path /dev/shm/mediary ', `# include /etc/nginx/${SEGMENTS};`] as const;
  const missing = lines.find((line) => !site.includes(line));
  if (missing !== undefined) throw new Error(`${MODEL} has no line "${missing}"`);
  return site
    .replace(lines[0], `proxy_cache_path ${folder}/segments `)
    .replace(lines[1], `include ${folder}/${SEGMENTS};`);
}

/** The parts that a distribution's nginx.conf has already. */
const renderMain = (folder: string): string => `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 2;
pid ${folder}/nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
    client_body_temp_path ${folder}/body;
    proxy_temp_path ${folder}/proxy;
    fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi;
    scgi_temp_path ${folder}/scgi;
    include ${folder}/mediary.conf;
}
`;
