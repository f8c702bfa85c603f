// `npm run cluster`: starts the whole system in the foreground, or restarts it without an interruption.
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { signAccessToken } from '../../service/src/auth/tokens/access-token.ts';
import { toSecret } from '../../service/src/auth/secret.ts';
import { type Cluster, startCluster } from './cluster.ts';

const FOLDER = resolve(process.env['CLUSTER_DIR'] || '.mediary-cluster');
const PORT = Number(process.env['CLUSTER_PORT'] || 8080);
const PID_FILE = join(FOLDER, 'cluster.pid');
const DAY_S = 86_400;

const print = (text: string) => process.stdout.write(`${text}\n`);

async function run(): Promise<void> {
  const report = (message: string) => print(`${new Date().toISOString()}  ${message}`);
  const cluster = await startCluster({ folder: FOLDER, port: PORT, report });
  await writeFile(PID_FILE, String(process.pid));
  print(describe(cluster));
  let isRestarting = false;
  process.on('SIGHUP', () => {
    if (isRestarting) return;
    isRestarting = true;
    void cluster
      .restart()
      .catch((error: Error) => report(`The restart ends here: ${error.message}`))
      .finally(() => {
        isRestarting = false;
      });
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      report('stopping; a second signal ends everything at once');
      void cluster.stop().then(() => process.exit(0));
      process.once(signal, () => process.exit(1));
    });
}

function describe({ url, secrets, apis, workers }: Cluster): string {
  const exp = Math.floor(Date.now() / 1000) + DAY_S;
  const claims = { user_id: 'you', type: 'access', exp };
  const token = signAccessToken(claims, toSecret(secrets.ACCESS_TOKEN_SECRET));
  return `
  Mediary listens on ${url}: nginx, ${apis.length} API processes, ${workers.length} workers

  API       ${url}/docs
  data      ${FOLDER}
  logs      ${join(FOLDER, 'logs')}
  secrets   ${join(FOLDER, 'secrets.json')}

  export API=${url}/api/v1 KEY=${secrets.SERVICE_API_KEY}
  export TOKEN=${token}
  curl -s -H "Authorization: Bearer $TOKEN" $API/media

  npm run cluster -- restart     restarts API processes and workers one after another (also: SIGHUP)
  Ctrl-C                         stops all; the data stays
`;
}

async function restart(): Promise<void> {
  const pid = await readFile(PID_FILE, 'utf8').catch(() => undefined);
  if (pid === undefined) throw new Error(`No cluster runs in ${FOLDER}. Start it with: npm run cluster`);
  process.kill(Number(pid), 'SIGHUP');
  print('The processes restart one after another. The terminal of the cluster shows the progress.');
}

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = { start: run, restart };

const [name = 'start'] = process.argv.slice(2);
const command = COMMANDS[name];
if (!command) throw new Error(`Unknown command "${name}". Commands: ${Object.keys(COMMANDS).join(', ')}.`);
await command().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
