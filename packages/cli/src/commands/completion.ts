// `completion`: prints the completion script of a shell.
import { Argument, type Command } from 'commander';
import { renderCompletion, SHELLS, type Shell } from '../completion.ts';
import type { Runner } from '../context.ts';

export const addCompletionCommand = (program: Command, run: Runner): Command =>
  program
    .command('completion')
    .description('Print a completion script, such as: eval "$(mediary completion bash)"')
    .addArgument(new Argument('<shell>', 'shell').choices(SHELLS))
    .action(
      run(async ({ output }, [shell]) => {
        const script = renderCompletion(program, shell as Shell);
        output.result({ shell, script }, () => script);
      }),
    );
