import fc from 'fast-check';

/** Commands of these names, with such arguments: one part of `fc.oneof`. */
export function doing<C extends { readonly do: string }>(
  weight: number,
  what: readonly C['do'][],
  args: Readonly<Record<string, fc.Arbitrary<unknown>>> = {},
): { weight: number; arbitrary: fc.Arbitrary<C> } {
  const arbitrary = fc.record({ do: fc.constantFrom(...what), ...args });
  return { weight, arbitrary: arbitrary as unknown as fc.Arbitrary<C> };
}
