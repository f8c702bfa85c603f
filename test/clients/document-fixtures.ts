// What the code blocks of the documents find when tests run them: a service, a video, variables, addresses.
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readFileSync } from 'node:fs';
import { makeClip } from '../support/clips/clips.ts';
import { freePort } from '../support/http/free-port.ts';
import { type Hosts, startHosts } from '../support/providers/hosted.ts';
import { SECRETS } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '../..');

const UPPY = [4, 5].flatMap((version) =>
  ['core', 'tus', 'xhr-upload', 'golden-retriever'].map((name) => `uppy-${version}-${name}`),
);
/** The packages that the documents name, and where they are installed. */
const PACKAGES: Readonly<Record<string, string>> = {
  '@mediary': ROOT,
  '@types': ROOT,
  'undici-types': ROOT,
  pg: ROOT,
  'tus-js-client': ROOT,
  'hls.js': ROOT,
  standardwebhooks: ROOT,
  '@uppy': import.meta.dirname,
  eventsource: import.meta.dirname,
  'eventsource-3': import.meta.dirname,
  'eventsource-4': import.meta.dirname,
  ...Object.fromEntries(UPPY.map((name) => [name, import.meta.dirname])),
};

export type DocumentFixtures = {
  readonly hosts: Hosts;
  /** Has the packages of the documents; each document has a folder in it. */
  readonly folder: string;
  readonly sample: string;
  /** The path of a script that the shells of all documents read first. */
  readonly shellPrelude: string;
  /** Where the server of a document listens in place of port 3000; its pages may call the service. */
  originOf(document: string): string;
  /** As readers have it: with packages, and beside the secrets of the service. */
  folderOf(document: string): string;
  /** Replaces the addresses of the document by those of this test. */
  replaceAddresses(document: string, code: string): string;
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
};

export async function startDocumentFixtures(documents: readonly string[]): Promise<DocumentFixtures> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-documents-'));
  const folderOf = (document: string): string => join(folder, document.replace(/\W/g, '-'));
  const ports = new Map<string, number>();
  for (const document of documents) ports.set(document, await freePort());
  const originOf = (document: string): string => `http://localhost:${ports.get(document)}`;
  // Playable in all renditions, and as long as the documents say.
  const sample = await makeClip({ seconds: 10, width: 320, height: 180 });
  const others = await startOtherServer(sample);
  const hosts = await startHosts(
    {},
    {
      CORS_ORIGINS: documents.map(originOf).join(','),
      OUTBOUND_ALLOW_PRIVATE: 'webhooks,import',
      LOG_LEVEL: 'error',
    },
  );
  await linkPackages(folder);
  const shellPrelude = join(folder, 'prelude.sh');
  await writeFile(shellPrelude, SHELL_PRELUDE);
  for (const document of documents) await createReaderFolder(folderOf(document));
  const { address } = hosts.service;
  return {
    hosts,
    folder,
    sample,
    shellPrelude,
    originOf,
    folderOf,
    replaceAddresses: (document, code) =>
      code
        .replaceAll('http://127.0.0.1:8080', address)
        .replaceAll('https://media.example.com', address)
        .replace(/https:\/\/(?:app|files|encoder)\.example\.com/g, toOrigin(others))
        .replace(/(localhost:|127\.0\.0\.1:|listen\()3000\b/g, `$1${ports.get(document)}`)
        // A poll of an asset that does not change ends after this time.
        .replaceAll('wait=30', 'wait=1'),
    environment: environmentOf(hosts, folder, sample),
    stop: async () => {
      await hosts.stop();
      others.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const environmentOf = ({ service, sims }: Hosts, folder: string, sample: string) => ({
  PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
  ROOT,
  SAMPLE: sample,
  HOME: folder,
  NO_COLOR: '1',
  MEDIARY_URL: service.address,
  // As "Configure the secrets" of a guide says.
  OPERATOR_KEY: SECRETS.OPERATOR_KEY,
  ONPREM_WEBHOOK_SECRET: SECRETS.ONPREM_WEBHOOK_SECRET,
  ...sims.environment,
});

/** Commands that the shell of a document has instead of the installed ones. */
const SHELL_PRELUDE = `
set -eEm -o pipefail
shopt -s inherit_errexit
trap 'echo "line $LINENO: $BASH_COMMAND" >> "$FAILURES"' ERR
trap 'for job in $(jobs -p); do kill -- "-$job"; done 2> /dev/null' EXIT
curl() { command curl --fail-with-body --no-progress-meter --retry 5 --retry-connrefused "$@"; }
background=()
end_background() {
  for job in "\${background[@]}"; do
    kill -0 "$job" 2> /dev/null || wait "$job" || echo "a command in the background ended" >> "$FAILURES"
  done
}
# npm itself takes a second for each start. The doctor also finds what the other documents do meanwhile.
npx() { node "$ROOT/node_modules/.bin/$1" "\${@:2}" || [ "$2 $?" = 'doctor 1' ]; }
npm() {
  case "$1 $2" in
    # The service runs: this shows that it would start with these settings.
    'start '*) node "$ROOT/test/clients/programs/check-settings.ts" ;;
    # A free box of its own: equal files of one owner would be one asset, which another document deletes.
    'run sample') cp "$SAMPLE" sample.mp4; printf '\\0\\0\\0\\050free%032d' "$RANDOM$$" >> sample.mp4 ;;
    'exec --') "\${@:3}" ;;
    *) command npm --prefix "$ROOT" "$@" ;;
  esac
}
`;

async function createReaderFolder(path: string): Promise<void> {
  await mkdir(join(path, '.mediary'), { recursive: true });
  await writeFile(join(path, '.mediary/secrets.json'), JSON.stringify(SECRETS), { mode: 0o600 });
  await symlink(join(path, '../node_modules'), join(path, 'node_modules'));
}

async function linkPackages(folder: string): Promise<void> {
  await mkdir(join(folder, 'node_modules'));
  for (const [name, place] of Object.entries(PACKAGES))
    await symlink(join(place, 'node_modules', name), join(folder, 'node_modules', name));
  await copyFile(join(import.meta.dirname, 'programs/document-globals.ts'), join(folder, 'globals.ts'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
}

/** Stands for other web servers and receivers of webhooks: sends the sample, and accepts every POST. */
async function startOtherServer(sample: string): Promise<Server> {
  const bytes = readFileSync(sample);
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'GET') response.writeHead(200, { 'content-type': 'video/mp4' }).end(bytes);
    else response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

const toOrigin = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
