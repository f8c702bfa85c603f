// Encodes a form with a file as a blob: of a `FormData`, Node shows neither the length nor the progress.
import { toHex } from '../encoding.ts';

/** The file is the last field, which some stores require. Its bytes are read when the form is sent. */
export function encodeForm(fields: Readonly<Record<string, string>>, file: Blob, filename: string): Blob {
  const boundary = `form-${toHex(crypto.getRandomValues(new Uint8Array(16)))}`;
  const open = (name: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`;
  const texts = Object.entries(fields).map(([name, value]) => `${open(name)}\r\n\r\n${value}\r\n`);
  const type = file.type || 'application/octet-stream';
  const head = `${open('file')}; filename="${escapeName(filename)}"\r\nContent-Type: ${type}\r\n\r\n`;
  const parts = [...texts, head, file, `\r\n--${boundary}--\r\n`];
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` });
}

/** As the HTML standard escapes the names of fields and files. */
const escapeName = (name: string): string =>
  name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
