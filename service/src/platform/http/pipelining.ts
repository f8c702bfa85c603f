// Handles pipelined requests of a connection one at a time.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Node would run all requests of a chunk concurrently and hold every response in memory. */
const MAX_WAITING_REQUESTS = 32;

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** Closes a connection with more than MAX_WAITING_REQUESTS pipelined requests. */
export function handleSequentially(handler: RequestListener): RequestListener {
  /** Sockets with a request in progress, and their waiting requests. */
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
