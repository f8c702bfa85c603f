// Reads streamed bodies, and frees their memory early.
import type { IncomingMessage } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Bytes of all bodies between two collections. Node reads a socket into new buffers of 64 KiB, which V8 would
 * collect only after about 75 MiB; fresh memory costs more time than a collection.
 */
const COLLECT_EVERY_BYTES = 8 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;
let receivedBytes = 0;

/** The chunks of a body. An iterator that stops early leaves the socket open for the error response. */
export async function* readStreamedBody(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    receivedBytes += (chunk as Uint8Array).byteLength;
    yield chunk as Uint8Array;
    if (receivedBytes < COLLECT_EVERY_BYTES) continue;
    receivedBytes = 0;
    collect({ type: 'minor' });
  }
}
