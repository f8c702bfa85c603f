// nginx as the reference for serving files: one process, sendfile, no logs.
import { access, constants, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Server, startProgram } from './processes.ts';
import { freePort } from '../test/support/http/free-port.ts';

/**
 * In front of a service with SEGMENT_DELIVERY=x-accel-redirect, whose store is in the folder `objects`.
 * `isPopular`: with deploy/nginx-segments.conf.
 */
export async function startNginxBefore(
  { port }: Server,
  folder: string,
  isPopular: boolean,
): Promise<Server | undefined> {
  const model = await readFile(join(import.meta.dirname, '../deploy/nginx-segments.conf'), 'utf8');
  const cache = `proxy_cache_path ${folder}/segments keys_zone=mediary_segments:1m use_temp_path=off;`;
  return startNginx(folder, {
    name: isPopular ? 'popular' : 'accel',
    upstream: `
  ${isPopular ? cache : ''}
  upstream mediary { server 127.0.0.1:${port}; keepalive 64; keepalive_requests 1000000000; }`,
    locations: `
    proxy_http_version 1.1; proxy_set_header Connection "";
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    ${isPopular ? model.replace('/var/lib/mediary/objects/', `${folder}/objects/`) : ''}
    location / { proxy_pass http://mediary; }
    location /_mediary/ { internal; alias ${folder}/objects/; }`,
  });
}

type Site = { readonly name: string; readonly upstream: string; readonly locations: string };
const FILES: Site = { name: 'nginx', upstream: '', locations: 'root /;' };

/** Undefined when nginx is not installed. Debian installs it outside the PATH of ordinary users. */
export async function startNginx(folder: string, site = FILES): Promise<Server | undefined> {
  const command = await findProgram('nginx', [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']);
  if (!command) return undefined;
  const port = await freePort();
  const file = join(folder, `${site.name}.conf`);
  await writeFile(file, settings(folder, port, site));
  return startProgram(
    { command, args: ['-p', folder, '-c', file, '-e', 'stderr'], environment: {} },
    port,
    site === FILES ? file : '/healthz',
  );
}

async function findProgram(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const path of folders.map((folder) => join(folder, name))) {
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

const settings = (folder: string, port: number, { name, upstream, locations }: Site) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; master_process off; worker_processes 1; pid ${folder}/${name}.pid; error_log stderr;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
  types {} default_type video/iso.segment;
  ${upstream}
  server { listen 127.0.0.1:${port}; ${locations} }
}
`;
