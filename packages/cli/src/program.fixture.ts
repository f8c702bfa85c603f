// Runs the program in the process of a test, and a server that it calls.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runProgram } from './program.ts';

type RunOptions = {
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly signal?: AbortSignal;
};

/** Standard input is empty. */
export async function runInProcess(
  args: readonly string[],
  { env, folder, signal = new AbortController().signal }: RunOptions,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end();
  const code = await runProgram({ env, folder, stdin, stdout, stderr, signal }, args);
  stdout.end();
  stderr.end();
  return { code, stdout: await text(stdout), stderr: await text(stderr) };
}

/** `url`: without a path. */
export async function serve(
  listener: RequestListener,
): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
