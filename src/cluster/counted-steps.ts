/** The same methods; `called` hears of each call. */
export function countedSteps<
  S extends { readonly [name in N]: (...args: never[]) => unknown },
  N extends string,
>(steps: S, names: readonly N[], called: () => void): Pick<S, N> {
  const counted = names.map((name) => {
    const call = (...args: never[]): unknown => {
      called();
      return steps[name](...args);
    };
    return [name, call];
  });
  return Object.fromEntries(counted) as Pick<S, N>;
}
