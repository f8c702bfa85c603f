// Runs a program of this package as a child process. The caller calls its functions by messages.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

type Call = { readonly id: number; readonly name: string; readonly argument: unknown };
type Reply = { readonly id: number; readonly result?: unknown; readonly error?: string };
type Functions = { readonly [name: string]: (argument: never) => Promise<unknown> };
type PendingCall = { readonly resolve: (result: never) => void; readonly reject: (error: Error) => void };

export type ChildProgram<F extends Functions> = {
  call<N extends keyof F & string>(name: N, argument: Parameters<F[N]>[0]): ReturnType<F[N]>;
  /** Closes the channel, after which the program cleans up, and waits for its end. */
  end(): Promise<void>;
};

/** `name`: for error messages. */
export function startChildProgram<F extends Functions>(program: URL, name: string): ChildProgram<F> {
  const child = fork(fileURLToPath(program), {
    execArgv: [],
    // A session of its own: Ctrl-C, and signals to the group of the tests, leave it alive to clean up.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const pending = new Map<number, PendingCall>();
  const ended = once(child, 'exit').then(([code, signal]) => {
    const error = new Error(`${name} ended (${signal ?? code})`);
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    return error;
  });
  let calls = 0;
  // A test that forgets stop() must not keep its runner alive. Only a pending call does.
  const settleReferences = () => child.channel?.[pending.size > 0 ? 'ref' : 'unref']();
  child.unref();
  child.on('message', ({ id, result, error }: Reply) => {
    const call = pending.get(id);
    pending.delete(id);
    settleReferences();
    if (error === undefined) call?.resolve(result as never);
    else call?.reject(new Error(error));
  });
  return {
    call: ((called: string, argument: unknown) => {
      if (!child.connected) return ended.then((error) => Promise.reject(error));
      return new Promise((resolve, reject) => {
        const id = ++calls;
        pending.set(id, { resolve, reject });
        settleReferences();
        child.send({ id, name: called, argument } satisfies Call);
      });
    }) as ChildProgram<F>['call'],
    end: async () => {
      child.ref();
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** The other side. `cleanUp` runs when the caller closes the channel, or has died; the process then exits. */
export function serveCalls(functions: Functions, cleanUp: () => Promise<void>): void {
  const reply = (message: Reply) => void (process.connected && process.send?.(message));
  process.on('message', ({ id, name, argument }: Call) => {
    const called = functions[name]?.(argument as never) ?? Promise.reject(new Error(`no function ${name}`));
    called.then(
      (result) => reply({ id, result }),
      (error: Error) => reply({ id, error: error.message }),
    );
  });
  const leave = () => void cleanUp().finally(() => process.exit());
  if (process.connected) process.once('disconnect', leave);
  else leave();
}
