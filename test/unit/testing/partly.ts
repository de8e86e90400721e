/** The object with some of its properties changed. */
export function partly<P extends object>(whole: P, changed: Partial<P> = {}): P {
  return new Proxy(whole, {
    get: (_, key) => {
      const found = Reflect.get(key in changed ? changed : whole, key);
      return typeof found === 'function' ? found.bind(whole) : found;
    },
  });
}
