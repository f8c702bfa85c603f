// Sends a file in one request: as the body of a PUT, or as a form.
import type { FormUploadTarget, PutUploadTarget } from '../api/uploads.ts';
import { hasUnknownOutcome, isTransient, withRetries } from '../backoff.ts';
import { MediaryError } from '../errors.ts';
import { toError } from '../response.ts';
import { encodeForm } from './form-body.ts';
import type { Transfer } from './transfer.ts';

/** The body did not arrive; nothing is stored, so it can be sent again. */
const INTERRUPTED = new Set<unknown>(['body_cut_short', 'request_too_slow']);

const isRetryable = (error: unknown): boolean =>
  isTransient(error) ||
  (error instanceof MediaryError && (INTERRUPTED.has(error.reason) || error.status === 408));

/** The response to an earlier attempt was lost, and the store overwrites nothing. */
const isStored = (error: MediaryError): boolean => error.status === 412;

export function sendByPut(transfer: Transfer, { method, url, headers }: PutUploadTarget): Promise<void> {
  const { file: body, maxRetries, signal, onSent } = transfer;
  return withRetries({ maxRetries, signal, isRetryable }, async () => {
    const response = await transfer.sendBytes({ method, url, headers, body, signal, onSent });
    const error = response.status < 300 ? undefined : toError(response);
    if (error && !isStored(error)) throw error;
    onSent(body.size);
  });
}

export function sendByForm(transfer: Transfer, target: FormUploadTarget): Promise<void> {
  const { method, url } = target;
  const { file, filename, maxRetries, signal } = transfer;
  const body = encodeForm(target.fields ?? {}, file, filename);
  const headers = { ...target.headers, 'content-type': body.type };
  // The parts of the form around the file count as bytes of the request.
  const onSent = (bytes: number): void => transfer.onSent(Math.min(bytes, file.size));
  let isMaybeSent = false;
  return withRetries({ maxRetries, signal, isRetryable }, async () => {
    const response = await transfer
      .sendBytes({ method, url, headers, body, signal, onSent })
      .catch((error) => {
        isMaybeSent ||= hasUnknownOutcome(error);
        throw error;
      });
    const error = response.status < 300 ? undefined : toError(response);
    // A form is accepted once: a refusal may mean that an earlier attempt arrived. The completion finds out.
    if (error && (!isMaybeSent || isRetryable(error))) throw error;
    onSent(file.size);
  });
}
