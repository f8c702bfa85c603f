// With TEST_NGINX=1 the requests of journeys pass through nginx, with the file that operators copy.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeNginx } from '../../deploy/cluster/nginx.ts';
import { supervise } from '../../deploy/cluster/supervised-process.ts';

export const isBehindNginx = process.env['TEST_NGINX'] === '1';

export async function startNginx(port: number, apiPort: number): Promise<{ stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-nginx-'));
  const spec = await describeNginx({ folder, logFolder: folder, port, apiPorts: [apiPort] });
  const nginx = await supervise(spec, (message) => process.stderr.write(`${message}\n`));
  return {
    stop: async () => {
      await nginx.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
