// One process that decodes untrusted pictures. A process, for a thread cannot be ended while native code runs in it, and dies with all others when that code crashes.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order, Reply } from './image-order.ts';

const SCRIPT = fileURLToPath(new URL('./sharp-image-processor.worker.ts', import.meta.url));
/** 512 MiB for WebAssembly, in which HEIF is decoded; the process itself watches what native code takes. */
const LIMITS = ['--max-old-space-size=256', '--wasm-max-mem-pages=8192'];

export type Done = Extract<Reply, { kind: 'done' }>;

/** It knows nothing of ours: no environment, no output, no secrets in its memory. It ends when we do. */
export async function startProcess(): Promise<ChildProcess> {
  const child = fork(SCRIPT, {
    execArgv: LIMITS,
    env: { MALLOC_ARENA_MAX: '2' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
  const { promise, reject } = Promise.withResolvers<never>();
  const died = () => reject(new Error('the image process did not start'));
  child.once('error', reject).once('exit', died);
  await Promise.race([once(child, 'message'), promise]);
  child.off('error', reject).off('exit', died);
  child.on('error', () => {}); // whoever waits for an answer is told by its end; without a listener it would end us
  child.unref();
  child.channel?.unref();
  return child;
}

/** undefined where the process dies of the picture, or is still busy with it at the deadline. Rejects where the bytes cannot be read. */
export async function answerOf(
  child: ChildProcess,
  order: Order,
  deadlineMs: number,
): Promise<Done | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Done | undefined>();
  const hear = (reply: Reply) => {
    if (reply.kind === 'done') resolve(reply);
    if (reply.kind === 'unreadable') reject(new Error('the picture could not be read'));
  };
  const died = () => resolve(undefined);
  const timer = setTimeout(died, deadlineMs);
  child.on('message', hear).once('exit', died);
  child.send(order, (error) => {
    if (error) died();
  });
  return promise.finally(() => {
    clearTimeout(timer);
    child.off('message', hear).off('exit', died);
  });
}

export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.ref();
  child.kill('SIGKILL');
  await gone;
}
