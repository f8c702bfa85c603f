// Names the methods that a known path has, in the 404 of a request with another method.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notFound, ServiceError } from './errors.ts';

/** Register it before the routes. The function returns the 404 of a request without a route. */
export function describeMissingRoutes(app: FastifyInstance): (request: FastifyRequest) => ServiceError {
  const routes: { readonly method: string; readonly form: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    if (url === '*') return;
    const form = toForm(url);
    for (const name of [method].flat()) routes.push({ method: name, form });
  });
  return ({ method, url }) => {
    const path = url.replace(/[?#].*$/s, '');
    const allowed = [...new Set(routes.filter(({ form }) => form.test(path)).map((route) => route.method))];
    if (allowed.length === 0 || allowed.includes(method)) return notFound('No such route');
    allowed.sort();
    return new ServiceError(
      'NOT_FOUND',
      `This path has no method ${method}. Allowed: ${allowed.join(', ')}.`,
      {
        details: { allowed },
        headers: { allow: allowed.join(', ') },
      },
    );
  };
}

/** A pattern of the router: `:name` matches within a segment, `*` matches the rest. */
const toForm = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split(/(:\w+|\*)/)
      .map(toPart)
      .join('')}$`,
  );

function toPart(text: string): string {
  if (text === '*') return '.*';
  return text.startsWith(':') ? '[^/]+' : text.replace(/[.+?^${}()|[\]\\~]/g, '\\$&');
}
