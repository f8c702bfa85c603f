// Binds the operations that a wing offers to other wings to its context, their first argument.
type Operations<C> = Record<string, (ctx: C, ...rest: never[]) => unknown>;

type Offered<O> = {
  readonly [K in keyof O]: O[K] extends (ctx: never, ...rest: infer A) => infer R ? (...rest: A) => R : never;
};

export function offer<C, const O extends Operations<C>>(ctx: C, operations: O): Offered<O> {
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [name, operation.bind(undefined, ctx)]),
  ) as Offered<O>;
}
