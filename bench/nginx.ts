// nginx as the reference for serving files: one process, sendfile, no logs.
import { access, constants, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Server, startProgram } from './processes.ts';
import { freePort } from '../test/support/free-port.ts';

/** Undefined when nginx is not installed. Debian installs it outside the PATH of ordinary users. */
export async function startNginx(folder: string): Promise<Server | undefined> {
  const command = await findProgram('nginx', [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']);
  if (!command) return undefined;
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  await writeFile(file, settings(folder, port));
  return startProgram(
    { command, args: ['-p', folder, '-c', file, '-e', 'stderr'], environment: {} },
    port,
    file,
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

const settings = (folder: string, port: number) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; master_process off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
  types {} default_type video/iso.segment;
  server { listen 127.0.0.1:${port}; root /; }
}
`;
