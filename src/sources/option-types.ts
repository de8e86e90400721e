/** Options with the type of each value in its place: the value of a name that is unknown may be a credential, and is not shown. */
export function optionTypes(given: object): Readonly<Record<string, string>> {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, typeof value]));
}
