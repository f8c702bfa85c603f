// What a wing offers to other wings: its operations, called without the wing's context.
type Operation<C> = (ctx: C, ...rest: never[]) => unknown;

type Offered<O> = {
  readonly [K in keyof O]: O[K] extends (ctx: never, ...rest: infer A) => infer R ? (...rest: A) => R : never;
};

/** Each `feature.ts` calls it once. A function of its own offers an operation with type parameters. */
export function offer<C, const O extends Record<string, Operation<C>>>(ctx: C, operations: O): Offered<O> {
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [name, operation.bind(undefined, ctx)]),
  ) as Offered<O>;
}
