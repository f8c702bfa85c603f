// `doctor`: checks the way to the service and the service itself, and names a fix for each problem.
import { checkConnection } from '@mediary/checks/connection';
import type { Finding } from '@mediary/checks/finding';
import { type Send, sendProbe } from '@mediary/checks/probe';
import { type Command, InvalidArgumentError } from 'commander';
import { parseBytes } from '../arguments.ts';
import type { Handler, Runner } from '../context.ts';
import { checkAccess, readServiceFindings, toAddress } from '../doctor/access.ts';
import { checkCors } from '../doctor/cors.ts';
import { checkProxy } from '../doctor/proxy.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import type { Output, Style } from '../output.ts';
import type { Settings } from '../settings/settings.ts';
import { toPlain } from '../text.ts';

type Options = {
  readonly origin?: string;
  readonly bodySize: number;
  readonly deep?: boolean;
  readonly all?: boolean;
};

const DEFAULT_BODY_BYTES = 8 * 1024 ** 2;
/** The service reads no more of a test upload. */
const MAX_BODY_BYTES = 64 * 1024 ** 2;

function parseBodySize(text: string): number {
  const bytes = parseBytes(text);
  if (bytes <= MAX_BODY_BYTES) return bytes;
  throw new InvalidArgumentError('Expected at most 64M.');
}

/** As CORS_ORIGINS takes it, also of apps (capacitor://localhost), and with the slash of an address bar. */
function parseOrigin(text: string): string {
  const [, origin] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+)\/?$/i.exec(text) ?? [];
  if (origin !== undefined && URL.canParse(origin)) {
    const { protocol, host } = new URL(origin);
    return `${protocol}//${host}`;
  }
  throw new InvalidArgumentError('Expected scheme, host and port alone, such as https://app.example.com.');
}

export const addDoctorCommand = (program: Command, run: Runner): Command =>
  program
    .command('doctor')
    .description('Check the connection, proxies, CORS, credentials and the service')
    .option(
      '--origin <origin>',
      'origin of a web page that uploads, such as https://app.example.com',
      parseOrigin,
    )
    .option('--body-size <bytes>', 'size of the test upload, at most 64M', parseBodySize, DEFAULT_BODY_BYTES)
    .option('--deep', 'also check what takes long: provider APIs, the whole object store')
    .option('--all', 'also show what is well, and what was not checked')
    .addHelpText('after', '\nExample:\n  mediary doctor --origin https://app.example.com')
    .action(run(examine));

const examine: Handler<Options> = async (context, _args, options) => {
  const { output } = context;
  const settings = await context.loadSettings();
  const findings = await collectFindings(context.signal, settings, options);
  const problems = findings.filter(({ status }) => status === 'problem').length;
  const result = { url: settings.url, problems, findings };
  output.result(result, () => formatReport(output, result, options.all === true));
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
  const { url, operatorKey } = settings;
  const send = createSend(url, signal);
  const { isReachable, findings } = await checkConnection(send, toAddress(settings));
  if (!isReachable) return findings;
  const { origin, bodySize: bodyBytes, deep } = options;
  const access = await checkAccess(send, settings);
  const cors = await checkCors(send, origin);
  const service = await readServiceFindings(send, settings, deep === true);
  const maxUploadBytes = findMaxUploadBytes(service);
  const proxy = operatorKey ? await checkProxy(send, { operatorKey, bodyBytes, maxUploadBytes }) : [];
  return [...findings, ...access, ...cors, ...proxy, ...omitRepeated(service, [...findings, ...proxy])];
}

const TIMEOUT_MS = 15_000;

/** Throws when the command is interrupted. */
const createSend =
  (url: string, signal: AbortSignal): Send =>
  async ({ path, timeoutMs = TIMEOUT_MS, ...request }) => {
    const result = await sendProbe({ ...request, timeoutMs, signal, url: url + path });
    signal.throwIfAborted();
    return result;
  };

/** The default of MAX_UPLOAD_BYTES. */
const LARGEST_UPLOAD = 10 * 1024 ** 3;

function findMaxUploadBytes(service: readonly Finding[]): number {
  const found = service.find(({ check }) => check === 'public_url.body_limit')?.details['max_upload_bytes'];
  return typeof found === 'number' ? found : LARGEST_UPLOAD;
}

/**
 * The service checks its public URL from inside, this command the same URL from outside. Only what is well on
 * both ways is left out.
 */
function omitRepeated(service: readonly Finding[], own: readonly Finding[]): readonly Finding[] {
  const isOk = (check: string): boolean =>
    own.some((finding) => finding.check === check && finding.status === 'ok');
  if (!isOk('connection.public_url')) return service;
  return service.filter(
    ({ check, status }) => status !== 'ok' || !isOk(check.replace(/^public_url\./, 'proxy.')),
  );
}

const MARKS: Readonly<Record<Finding['status'], readonly [mark: string, style: Style]>> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  problem: ['✗', 'red'],
  not_checked: ['-', 'dim'],
};

type Report = { readonly url: string; readonly findings: readonly Finding[] };

function formatReport(output: Output, { url, findings: found }: Report, isAll: boolean): string {
  const isShown = ({ status }: Finding): boolean => isAll || status === 'warning' || status === 'problem';
  const findings = found.filter(isShown);
  const groups = [...new Set(findings.map(groupOf))];
  const sections = groups.map((group) => {
    const members = findings.filter((finding) => groupOf(finding) === group);
    const lines = members.flatMap((finding) => formatFinding(output, finding));
    return [output.style('bold', toTitle(group)), ...lines].join('\n');
  });
  return [`Mediary at ${url}`, ...sections, formatSum(found, isAll)].join('\n\n');
}

const groupOf = ({ check }: Finding): string => check.split('.', 1)[0] ?? '';

function formatFinding(output: Output, { check, status, message, fix, details }: Finding): string[] {
  const [mark, style] = MARKS[status];
  const line = `  ${output.style(style, mark)} ${toPlain(message)}${output.style('dim', `  ${check}`)}`;
  const facts = listWarnings(details).map((text) => `      ${toPlain(text)}`);
  return [line, ...facts, ...(fix ? [`    ${output.style('cyan', '→')} ${toPlain(toOwnWords(fix))}`] : [])];
}

/** Fixes of the service that refer to them. */
const listWarnings = ({ warnings }: Finding['details']): readonly string[] =>
  Array.isArray(warnings) ? warnings.slice(1).map(String) : [];

/** The service names its parameters and members. */
const toOwnWords = (fix: string): string =>
  fix
    .replace('Ask again with deep=true', 'Check again with --deep')
    .replace('as details.warnings say', 'as the warnings say');

const toTitle = (group: string): string =>
  (group.charAt(0).toUpperCase() + group.slice(1))
    .replaceAll('_', ' ')
    .replace(/\b(?:cors|url)\b/gi, (name) => name.toUpperCase());

function formatSum(findings: readonly Finding[], isAll: boolean): string {
  const count = (status: Finding['status'], name: string): string =>
    `${findings.filter((finding) => finding.status === status).length} ${name}`;
  const sum = [
    count('ok', 'ok'),
    count('warning', 'warnings'),
    count('problem', 'problems'),
    count('not_checked', 'not checked'),
  ].join(', ');
  return isAll ? sum : `${sum} (all of them: mediary doctor --all)`;
}
