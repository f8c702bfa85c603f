// Starts the example beside a running service: `npm run example`.
import { serve } from '@hono/node-server';
import { createApp } from './app.ts';
import { bundlePage } from './bundle-page.ts';
import { readSettings } from './settings.ts';

const { port, ...settings } = await readSettings(process.env).catch(refuseStart);
const page = await bundlePage(settings.mediaryUrl);
const server = serve({ fetch: createApp(settings, page).fetch, hostname: '127.0.0.1', port }, (address) => {
  const origin = `http://127.0.0.1:${address.port}`;
  process.stdout.write(
    `The example listens on ${origin}\nThe service must allow its page: CORS_ORIGINS=${origin} npm start\n`,
  );
});
server.once('error', refuseStart);

function refuseStart(error: Error): never {
  process.stderr.write(`The example cannot start: ${error.message}\n`);
  process.exit(1);
}
