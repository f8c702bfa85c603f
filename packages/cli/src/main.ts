// The process: arguments, signals and exit code.
import { createIo, runProgram } from './program.ts';

const controller = new AbortController();
let exitCode: number | undefined;

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  // The terminal has gone: `dev` stops its service.
  ['SIGHUP', 129],
] as const)
  process.on(signal, () => {
    // The second signal does not wait for requests to end.
    if (exitCode !== undefined) process.exit(code);
    exitCode = code;
    controller.abort();
  });

// The reader of a pipe has gone, as in `mediary ls --all | head`. The command may be half done: it ends with
// the exit code of SIGPIPE, without a message.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(141);
});

const result = await runProgram(createIo(process, controller.signal), process.argv.slice(2));
process.exitCode = exitCode ?? result;
