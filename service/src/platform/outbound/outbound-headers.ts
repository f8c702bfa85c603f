// Rules for request headers of outbound requests: which may be set, and which survive a redirect to another origin.

/** They belong to the connection or the framing, which the client sets itself. */
const FORBIDDEN = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Any other header may hold a credential. */
const SAFE_FOR_OTHER_ORIGINS = new Set(['accept', 'accept-language', 'if-range', 'range', 'user-agent']);
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export type OutboundHeaders = Readonly<Record<string, string>>;

/** The first header that cannot be sent; undefined: all can. */
export const findInvalidHeader = (headers: OutboundHeaders): string | undefined =>
  Object.entries(headers).find(
    ([name, value]) => !NAME.test(name) || FORBIDDEN.has(name.toLowerCase()) || !VALUE.test(value),
  )?.[0];

/** What may follow a redirect to another origin. */
export const withoutCredentials = (headers: OutboundHeaders): OutboundHeaders =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => SAFE_FOR_OTHER_ORIGINS.has(name.toLowerCase())),
  );
