// The example request of an operation as a curl command.
import { type Credential, type ExampleRequest, toQueryText } from './request-example.ts';

const CREDENTIALS: Readonly<Record<Credential, string>> = {
  token: '"Authorization: Bearer $TOKEN"',
  'service key': '"X-Service-Key: $SERVICE_KEY"',
  'operator key': '"X-Operator-Key: $OPERATOR_KEY"',
};

const API = '/api/v1';
const COLUMNS = 100;

export function renderCurl(example: ExampleRequest): string {
  const { method, headers, credential, body, file, output } = example;
  const options = [
    ...(credential ? [`-H ${CREDENTIALS[credential]}`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body ? ["-H 'Content-Type: application/json'", `-d ${quote(renderBody(body))}`] : []),
    ...(file ? [`--data-binary @${file}`] : []),
    ...(output ? [`-o ${output}`] : []),
  ];
  const start = `curl ${toMethod(example)}"${toUrl(example)}"`;
  const line = [start, ...options].join(' ');
  const isShort = line.length <= COLUMNS && !line.includes('\n');
  return method === 'HEAD' || isShort ? line : [start, ...options].join(' \\\n  ');
}

/** curl sends POST by itself where there is a body. */
function toMethod({ method, body, file, output, isStream }: ExampleRequest): string {
  if (method === 'HEAD') return '-I ';
  if (method === 'GET') return output ? '-L ' : isStream ? '-N ' : '';
  return method === 'POST' && (body || file) ? '' : `-X ${method} `;
}

function toUrl({ path, query }: ExampleRequest): string {
  const url = path.startsWith(API) ? `$API${path.slice(API.length)}` : `$ORIGIN${path}`;
  const text = toQueryText(query);
  return text === '' ? url : `${url}?${text}`;
}

function renderBody(body: object): string {
  const line = JSON.stringify(body);
  return line.length <= COLUMNS - 10 ? line : JSON.stringify(body, undefined, 2).replaceAll('\n', '\n  ');
}

/** For a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
