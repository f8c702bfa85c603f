// Uploads of an image by PUT: whole, begun by hand, and what they leave in the store.
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { IMAGE, openUpload, type Started } from '../media.ts';
import { openSocket } from '../http/raw-socket.ts';
import { call, eventually, type TestService } from '../service.ts';
import { filesNaming } from '../service/traces.ts';

export const BYTES = Buffer.from('some bytes, which nobody looks at before complete');
export const put = (url: string, bytes: Uint8Array = BYTES, headers: Record<string, string> = {}) =>
  call({ url: '' }, `PUT ${url}`, { headers, body: bytes });
export const urlOf = ({ upload_url }: Started) => upload_url as string;
export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** `service` is read at each call, because tests start it in a hook. */
export function putUploadsTo(service: () => TestService) {
  const open = (fields: object = {}) => openUpload(service(), 'ann', { ...IMAGE, ...fields });

  /** Files in the store, whole or half. */
  async function filesOf(id: string): Promise<string[]> {
    const folder = join(service().dataDir, 'objects');
    const found = await Promise.all([filesNaming(folder, id), filesNaming(join(folder, 'incoming'))]);
    return Array.from(new Set(found.flat()), (path) => basename(path));
  }

  const expectNothingStored = (id: string) =>
    eventually(
      () => filesOf(id),
      (files) => files.length === 0,
      { withinMs: 20_000 },
    );

  /** Waits until the service has recorded the writer. */
  const writerOf = ({ asset_id: id }: Started) =>
    eventually(
      () =>
        service().adapters.db.one(
          sql('test: writer of an upload', {
            id: 'uuid',
          })`select id from uploads where asset_id = ${id}`,
        ),
      (row) => row !== undefined,
    );

  /** A PUT by hand: the head, then as many of the bytes as are given. */
  async function begin(started: Started, headers: readonly string[], bytes: Uint8Array = Buffer.alloc(0)) {
    const { pathname, search } = new URL(urlOf(started));
    const socket = await openSocket(service().address);
    socket.write(
      [
        `PUT ${pathname}${search} HTTP/1.1`,
        'Host: mediary.test',
        'Connection: close',
        'Content-Type: image/png',
        ...headers,
        '',
        '',
      ].join('\r\n'),
    );
    socket.write(bytes);
    return socket;
  }

  return { open, filesOf, expectNothingStored, writerOf, begin };
}
