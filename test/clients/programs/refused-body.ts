// Sends a body that is refused, and prints the status or the error of each try.
import { readFileSync } from 'node:fs';
import axios from 'axios';
import { request } from 'undici';

const [method, url, headers, path, tries] = JSON.parse(process.argv[3] ?? '');
const body = readFileSync(path);

const CLIENTS: Record<string, () => Promise<number>> = {
  fetch: async () => (await fetch(url, { method, headers, body })).status,
  undici: async () => {
    const response = await request(url, { method, headers, body });
    await response.body.dump();
    return response.statusCode;
  },
  axios: async () => {
    const options = { method, url, headers, data: body, validateStatus: () => true };
    return (await axios.request(options)).status;
  },
};

const send = CLIENTS[process.argv[2] ?? ''];
if (!send) throw new Error(`unknown client: ${process.argv[2]}`);
for (let tried = 0; tried < tries; tried += 1)
  console.log(await send().catch((error: Error) => error.message.replaceAll('\n', ' ')));
