/** Reports each call of a method of a lock or a store. Each call is one command to the backend. */
export function counted<Adapter extends object>(adapter: Adapter, onStep: () => void): Adapter {
  return new Proxy(adapter, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        onStep();
        return Reflect.apply(member, target, args);
      };
    },
  });
}
