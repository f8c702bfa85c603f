// Handles the requests of a connection one after the other, however many of them a client sends ahead.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** The library parses all requests of a chunk at once and would run them at once, with every response in memory. */
export const MAX_WAITING_REQUESTS = 32;

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** A connection that sends more ahead than may wait is closed. */
export function handleInTurn(handler: RequestListener): RequestListener {
  /** Sockets with a request in progress, and the requests behind it. */
  const busy = new WeakMap<object, Exchange[]>();
  const handle = ({ request, response }: Exchange): void => {
    const { socket } = request;
    response.once('close', () => {
      const next = busy.get(socket)?.shift();
      if (next && !socket.destroyed) handle(next);
      else busy.delete(socket);
    });
    handler(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    const waiting = busy.get(socket);
    if (socket.destroyed) return;
    if (!waiting) {
      busy.set(socket, []);
      handle({ request, response });
    } else if (waiting.length < MAX_WAITING_REQUESTS) waiting.push({ request, response });
    else socket.destroy();
  };
}
