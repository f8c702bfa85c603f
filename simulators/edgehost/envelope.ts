// The response envelope of the edgehost API.
import { type Answer, json, Refused } from '../route.ts';

export const success = (result: unknown, more: object = {}, status = 200): Answer =>
  json(status, { result, success: true, errors: [], messages: [], ...more });

export const failure = (status: number, code: number, message: string): Answer =>
  json(status, { result: null, success: false, errors: [{ code, message }], messages: [] });

export const notFound = () =>
  new Refused(failure(404, 10003, 'Not Found: The requested resource does not exist.'));
export const badRequest = (message: string) => new Refused(failure(400, 10005, `Bad Request: ${message}`));
