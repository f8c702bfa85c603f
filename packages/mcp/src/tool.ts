// How a tool is defined and registered: input, annotations, result and errors.
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type {
  CallToolResult,
  ServerNotification,
  ServerRequest,
  ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { ServiceClients } from './clients.ts';
import { describeError, redactSecrets } from './tool-error.ts';

/** `text`: the result in words; default: its JSON. */
type ToolResult = { readonly data: Record<string, unknown>; readonly text?: string };

export type ToolCall = {
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal;
  /** Sends the progress to clients that ask for it, where it has risen. */
  reportProgress(progress: number, total: number): void;
};

type ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  readonly effect: keyof typeof ANNOTATIONS;
  run(clients: ServiceClients, input: z.output<Input>, call: ToolCall): Promise<ToolResult>;
};

/** A tool is destructive where it overwrites or removes what exists. */
const ANNOTATIONS = {
  reads: { readOnlyHint: true, openWorldHint: false },
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  overwrites: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
} satisfies Record<string, ToolAnnotations>;

/** Registers the tool with a server. */
type Tool = (server: McpServer, clients: ServiceClients) => void;

export const defineTool =
  <Input extends z.ZodObject, Output extends z.ZodObject>(tool: ToolDefinition<Input, Output>): Tool =>
  (server, clients) => {
    const { name, title, description, input: inputSchema, output: outputSchema, effect } = tool;
    const config = {
      title,
      description,
      inputSchema,
      outputSchema,
      annotations: { title, ...ANNOTATIONS[effect] },
    };
    server.registerTool<z.ZodObject, z.ZodObject>(name, config, async (input, extra) => {
      try {
        const call = { signal: extra.signal, reportProgress: createProgressReport(extra) };
        return toCallResult(await tool.run(clients, input as z.output<Input>, call));
      } catch (error) {
        const text = redactSecrets(JSON.stringify({ error: describeError(error) }), clients.settings);
        return { isError: true, content: [{ type: 'text', text }] };
      }
    });
  };

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const PROGRESS_EVERY_MS = 500;

function createProgressReport({ _meta, sendNotification }: Extra): ToolCall['reportProgress'] {
  const progressToken = _meta?.progressToken;
  let last = { progress: -1, at: 0 };
  return (progress, total) => {
    const at = Date.now();
    const isDue = progress > last.progress && (progress === total || at - last.at >= PROGRESS_EVERY_MS);
    if (progressToken === undefined || !isDue) return;
    last = { progress, at };
    const params = { progressToken, progress, total };
    // A client that has gone ends the call by its signal.
    sendNotification({ method: 'notifications/progress', params }).catch(() => {});
  };
}

const toCallResult = ({ data, text = JSON.stringify(data) }: ToolResult): CallToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: data,
});
