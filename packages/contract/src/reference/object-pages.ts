// On which page of the reference each object has its table.
import type { Operation } from '../operation.ts';
import type { ReferencePage } from './pages/reference-page.ts';
import { type LinkObject, type Schema, withoutNull } from './schema-rows.ts';

export type ObjectPages = {
  /** The objects of a page, in the order in which the page mentions them. */
  listObjects(page: ReferencePage): readonly Schema[];
  /** Links from one page to the table of an object. */
  linkFrom(page: ReferencePage): LinkObject;
};

/** What a response has: the data of the envelope, JSON without it, or the events of a stream. */
export function responseSchemaOf(operation: Operation): Schema | undefined {
  if (operation.data) return operation.data as Schema;
  const { json, event } = (operation.kind === 'bytes' && operation.response) || {};
  return (json?.data ?? event?.data) as Schema | undefined;
}

/** A page of a list, which has no table of its own: `items`, `next_cursor` and perhaps a total. */
export const isList = ({ properties = {} }: Schema): boolean =>
  ['items', 'next_cursor'].every((name) => name in properties) && !('id' in properties);

const isObject = (schema: Schema): boolean =>
  schema.properties !== undefined || schema.anyOf?.some((each) => each.properties !== undefined) === true;

/** The objects with names in a schema, the outer ones first. */
function listNamed(schema: Schema | undefined): readonly Schema[] {
  if (!schema) return [];
  const value = withoutNull(schema);
  const inner = [value.items, ...Object.values(value.properties ?? {}), ...(value.anyOf ?? [])];
  const isNamed = value.$id !== undefined && isObject(value) && !isList(value);
  return [...(isNamed ? [value] : []), ...inner.flatMap(listNamed)];
}

export function placeObjects(
  pages: readonly ReferencePage[],
  operations: ReadonlyMap<string, Operation>,
): ObjectPages {
  const mentioned = new Map(pages.map((page) => [page, listMentioned(page, operations)]));
  const known = new Map([...mentioned.values()].flat().map((schema) => [schema.$id ?? '', schema]));
  const places = new Map<string, ReferencePage>();
  const claim = (page: ReferencePage, schemas: readonly Schema[]): void => {
    for (const { $id = '' } of schemas) if (!places.has($id)) places.set($id, page);
  };
  for (const page of pages)
    claim(
      page,
      (page.objects ?? []).flatMap((name) => listNamed(known.get(name))),
    );
  for (const [page, schemas] of mentioned) claim(page, schemas);
  const toLink = (page: ReferencePage, name: string): string | undefined => {
    const place = places.get(name);
    if (!place) return undefined;
    const target = `#${name.toLowerCase()}`;
    return `[${name}](${place === page ? target : `${place.name}.md${target}`})`;
  };
  return {
    listObjects: (page) =>
      Array.from(places, ([name, place]) => (place === page ? known.get(name) : undefined)).filter(
        (schema) => schema !== undefined,
      ),
    linkFrom: (page) => (name) => toLink(page, name),
  };
}

const listMentioned = (page: ReferencePage, operations: ReadonlyMap<string, Operation>): readonly Schema[] =>
  page.operations.flatMap((id) => {
    const operation = operations.get(id);
    if (!operation) throw new Error(`The page ${page.name} lists ${id}, which is no operation.`);
    const { body } = operation.kind === 'json' ? operation : {};
    const bodyMembers = Object.values((body as Schema | undefined)?.properties ?? {});
    return [...listNamed(responseSchemaOf(operation)), ...bodyMembers.flatMap(listNamed)];
  });
