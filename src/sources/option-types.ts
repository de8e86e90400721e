/** Options with {@link typeShown} of each value in its place: the value of a name that is unknown may be a credential. */
export function optionTypes(given: object): Readonly<Record<string, string>> {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, `(${typeof value}, not shown)`]));
}

/** For the error about a value that may hold a credential: `(string, not shown)`, or `undefined` and `null` as they are. */
export function typeShown(value: unknown): unknown {
  return value === undefined || value === null ? value : `(${typeof value}, not shown)`;
}
