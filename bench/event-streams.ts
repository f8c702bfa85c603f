// Benchmark of many open event streams: their memory, the time until an event has reached all of them, and
// what they cost other requests.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { assetRequests, cycle } from './cases.ts';
import { type Environment, SECRETS, startService } from './environment.ts';
import { run } from './load.ts';
import { median } from './pair.ts';
import type { Server } from './processes.ts';
import { type Row, round } from './rows.ts';

const MIB = 2 ** 20;
const STREAMS = 2000;
const EVENTS = 10;
const CONNECT_AT_ONCE = 50;
const GET = { connections: 4, seconds: 2 };
const SERVICE = {
  'x-service-key': SECRETS.SERVICE_API_KEY,
  'content-type': 'application/json',
};

/** Uses a separate process for its memory. */
export async function eventStreams(environment: Environment, rounds: number): Promise<Row[]> {
  const { folder, databaseUrl, token, assetIds } = environment;
  const service = await startService(folder, databaseUrl, { EVENT_STREAMS_MAX: String(STREAMS) });
  const next = cycle(assetRequests(assetIds, token));
  const get = () => run({ port: service.port, ...GET, next });
  await get();
  const before = service.rssBytes();
  const streams = await openStreams(service);
  const bytesPerStream = (service.rssBytes() - before) / STREAMS;
  const times: number[] = [];
  for (let event = 0; event < EVENTS; event++)
    times.push(await measureEvent(service, streams, assetIds[event] ?? ''));
  const grown = service.rssBytes() - before;
  const ratios: number[] = [];
  for (let n = 0; n < rounds; n++) ratios.push(await compareGets(service, streams, get));
  await service.stop();
  return [
    [
      `GET while ${STREAMS} event streams are open in one process`,
      'the same GET without streams',
      round(median(ratios)),
      '≥ 0.9',
      `${round(bytesPerStream / 1024)} KiB per stream, ${round(grown / MIB)} MiB after ${EVENTS} events; ` +
        `an event has reached all after ${Math.round(median(times))} ms`,
    ],
  ];
}

type Stream = { readonly socket: Socket; received: number };

async function openStreams(service: Server): Promise<Stream[]> {
  const streams: Stream[] = [];
  while (streams.length < STREAMS)
    streams.push(...(await Promise.all(Array.from({ length: CONNECT_AT_ONCE }, () => openStream(service)))));
  return streams;
}

async function openStream({ port }: Server): Promise<Stream> {
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  const stream = { socket, received: 0 };
  const head = [
    'GET /api/v1/events HTTP/1.1',
    'host: 127.0.0.1',
    `x-service-key: ${SECRETS.SERVICE_API_KEY}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const [first] = (await once(socket, 'data')) as [Buffer];
  if (!first.toString().startsWith('HTTP/1.1 200')) throw new Error(first.toString());
  socket.on('data', (chunk: Buffer) => {
    stream.received += chunk.toString('latin1').split('\nevent: ').length - 1;
  });
  return stream;
}

/** Milliseconds from the response of a change until every stream has its event. */
async function measureEvent({ port }: Server, streams: readonly Stream[], id: string): Promise<number> {
  const expected = (streams[0]?.received ?? 0) + 1;
  const title = `Event ${expected}`;
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/media/${id}`, {
    method: 'PATCH',
    headers: SERVICE,
    body: JSON.stringify({ title, owner_user_id: 'bench' }),
  });
  if (!response.ok) throw new Error(await response.text());
  const started = performance.now();
  await Promise.all(
    streams.map(async (stream) => {
      while (stream.received < expected) await once(stream.socket, 'data');
    }),
  );
  return performance.now() - started;
}

/** With the streams, then without them; opens them again. */
async function compareGets(
  service: Server,
  streams: Stream[],
  get: () => Promise<{ readonly perSecond: number }>,
): Promise<number> {
  const busy = await get();
  await closeStreams(streams);
  const idle = await get();
  streams.splice(0, streams.length, ...(await openStreams(service)));
  return busy.perSecond / idle.perSecond;
}

async function closeStreams(streams: readonly Stream[]): Promise<void> {
  const closed = Promise.all(streams.map(({ socket }) => once(socket, 'close')));
  for (const { socket } of streams) socket.destroy();
  await closed;
}
