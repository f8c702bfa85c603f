// The response envelope of the edgehost API.
import { type RouteResponse, json, ResponseError } from '../route.ts';

export const success = (result: unknown, more: object = {}, status = 200): RouteResponse =>
  json(status, { result, success: true, errors: [], messages: [], ...more });

export const failure = (status: number, code: number, message: string): RouteResponse =>
  json(status, { result: null, success: false, errors: [{ code, message }], messages: [] });

/** `instead`: what Mediary has in place of the vendor's call. */
export const notSimulated = (instead: string): RouteResponse =>
  failure(501, 10501, `The simulator does not implement this call. ${instead}`);

export const notFound = () =>
  new ResponseError(failure(404, 10003, 'Not Found: The requested resource does not exist.'));
export const badRequest = (message: string) =>
  new ResponseError(failure(400, 10005, `Bad Request: ${message}`));
