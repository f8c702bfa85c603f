// `doctor`: checks the way to the service and the service itself, and names a fix for each problem.
import type { Command } from 'commander';
import { parseBytes } from '../arguments.ts';
import type { Handler, Runner } from '../context.ts';
import { checkAccess, readServiceFindings } from '../doctor/access.ts';
import { checkConnection, toFault } from '../doctor/connection.ts';
import { checkCors } from '../doctor/cors.ts';
import { createSend } from '../doctor/exchange.ts';
import { type Finding, problem, type Status } from '../doctor/finding.ts';
import { checkProxy } from '../doctor/proxy.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import type { Output, Style } from '../output.ts';
import type { Settings } from '../settings/settings.ts';
import { toPlain } from '../text.ts';

type Options = { readonly origin?: string; readonly bodySize: number; readonly deep?: boolean };

const DEFAULT_BODY_BYTES = 8 * 1024 ** 2;

export const addDoctorCommand = (program: Command, run: Runner): Command =>
  program
    .command('doctor')
    .description('Check the connection, proxies, CORS, credentials and the service')
    .option('--origin <origin>', 'origin of a web page that uploads, such as https://app.example.com')
    .option('--body-size <bytes>', 'size of the test upload, at most 64M', parseBytes, DEFAULT_BODY_BYTES)
    .option('--deep', 'also check what takes long: provider APIs, the whole object store')
    .action(run(examine));

const examine: Handler<Options> = async (context, _args, options) => {
  const { output } = context;
  const settings = await context.loadSettings();
  const findings = await collectFindings(context.signal, settings, options);
  const problems = findings.filter(({ status }) => status === 'problem').length;
  const result = { url: settings.url, problems, findings };
  output.result(result, () => formatReport(output, settings.url, findings));
  if (problems > 0)
    throw new CliError(
      `The doctor found ${problems} ${problems === 1 ? 'problem' : 'problems'}.`,
      EXIT.failed,
    );
};

async function collectFindings(
  signal: AbortSignal,
  settings: Settings,
  options: Options,
): Promise<readonly Finding[]> {
  const send = createSend(signal);
  const { url, operatorKey } = settings;
  const { isReachable, findings } = await checkConnection(send, url);
  if (!isReachable) return findings;
  // A connection that breaks during one check must not hide what the others have found.
  const settle = (check: string, checking: Promise<readonly Finding[]>): Promise<readonly Finding[]> =>
    checking.catch((error: Error) => {
      signal.throwIfAborted();
      return [problem(check, toFault(error, url))];
    });
  const { origin, bodySize: bodyBytes, deep } = options;
  const access = await settle('access.credentials', checkAccess(send, settings));
  const cors = await settle('cors.requests', checkCors(send, { url, origin }));
  const service = await settle('access.diagnostics', readServiceFindings(send, settings, deep === true));
  const proxy = operatorKey
    ? await settle('proxy.requests', checkProxy(send, { url, operatorKey, bodyBytes }))
    : [];
  return [...findings, ...access, ...cors, ...proxy, ...service];
}

const MARKS: Readonly<Record<Status, readonly [mark: string, style: Style]>> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  problem: ['✗', 'red'],
  not_checked: ['-', 'dim'],
};

function formatReport(output: Output, url: string, findings: readonly Finding[]): string {
  const groups = [...new Set(findings.map(groupOf))];
  const sections = groups.map((group) => {
    const members = findings.filter((finding) => groupOf(finding) === group);
    const lines = members.flatMap((finding) => formatFinding(output, finding));
    return [output.style('bold', toTitle(group)), ...lines].join('\n');
  });
  return [`Mediary at ${url}`, ...sections, formatSum(findings)].join('\n\n');
}

const groupOf = ({ check }: Finding): string => check.split('.', 1)[0] ?? '';

function formatFinding(output: Output, { check, status, message, fix }: Finding): string[] {
  const [mark, style] = MARKS[status];
  const line = `  ${output.style(style, mark)} ${toPlain(message)}${output.style('dim', `  ${check}`)}`;
  return fix ? [line, `    ${output.style('cyan', '→')} ${toPlain(fix)}`] : [line];
}

const toTitle = (group: string): string =>
  (group.charAt(0).toUpperCase() + group.slice(1))
    .replaceAll('_', ' ')
    .replace(/\b(?:cors|url)\b/gi, (name) => name.toUpperCase());

function formatSum(findings: readonly Finding[]): string {
  const count = (status: Status, name: string): string =>
    `${findings.filter((finding) => finding.status === status).length} ${name}`;
  return [
    count('ok', 'ok'),
    count('warning', 'warnings'),
    count('problem', 'problems'),
    count('not_checked', 'not checked'),
  ].join(', ');
}
