// Contexts for tests: a test gives the members that its subject uses.

/** Members that are objects may be given in part. */
type Given<C> = {
  readonly [K in keyof C]?: C[K] extends (...args: never[]) => unknown ? C[K] : Partial<C[K]>;
};

/** Reading a member that the test did not give fails with its name. */
export const contextOf = <C extends object>(given: Given<C>): C =>
  new Proxy(given, {
    get(target, name, receiver) {
      if (typeof name === 'string' && !(name in target)) throw new Error(`The test gives no ${name}`);
      return Reflect.get(target, name, receiver);
    },
  }) as C;
