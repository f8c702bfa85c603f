// The `mediary-mcp` server as a process of its own, with a client of the protocol.
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const PROGRAM = resolve(import.meta.dirname, '../../../packages/mcp/bin/mediary-mcp.js');

type McpOptions = {
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The current folder of the server. */
  readonly folder: string;
};

type ToolText = { readonly isError: boolean; readonly text: string; readonly data: unknown };

export type McpSession = AsyncDisposable & {
  readonly client: Client;
  /** What the server wrote to stderr. */
  log(): string;
  call(name: string, input?: object): Promise<ToolText>;
  /** `structuredContent` of a call that succeeds. */
  read<T>(name: string, input?: object): Promise<T>;
};

export async function startMcp({ args = [], env, folder }: McpOptions): Promise<McpSession> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, ...args],
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env },
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  const call = async (name: string, input: object = {}): Promise<ToolText> => {
    const result = await client.callTool({ name, arguments: { ...input } });
    const [content] = result.content as { readonly text: string }[];
    return { isError: result.isError === true, text: content?.text ?? '', data: result.structuredContent };
  };
  return {
    client,
    log: () => log,
    call,
    read: async <T>(name: string, input?: object): Promise<T> => {
      const { isError, text, data } = await call(name, input);
      if (isError) throw new Error(`${name}: ${text}`);
      return data as T;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
