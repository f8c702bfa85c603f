// `console`: a link that signs in an operator to the console, once.
import type { Command } from 'commander';
import { type Handler, openOperatorApi, type Runner } from '../context.ts';

type SignInLink = { readonly url: string; readonly expires_at: string };

export const addConsoleCommand = (program: Command, run: Runner): Command =>
  program
    .command('console')
    .description('Print a link that signs in to the console, once within 10 minutes (operator key)')
    .action(run(createLink));

const createLink: Handler = async (context) => {
  const api = await openOperatorApi(context);
  const link = await api.post<SignInLink>('/console-links', {});
  context.output.result(link, () => link.url);
};
