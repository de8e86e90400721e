// What the conformance suites assert with: plain errors, so that any test runner can show them.

/** Fails with the message, unless it holds. */
export function ensure(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}

/** Both are the same primitive. */
export function same(actual: unknown, expected: unknown, what: string): void {
  ensure(Object.is(actual, expected), `${what}: expected ${show(expected)}, got ${show(actual)}`);
}

/** Both lists hold the same primitives in the same order. */
export function sameList(actual: readonly unknown[], expected: readonly unknown[], what: string): void {
  const isSame = actual.length === expected.length && actual.every((one, i) => Object.is(one, expected[i]));
  ensure(isSame, `${what}: expected ${show(expected)}, got ${show(actual)}`);
}

/** A number between both, both included. */
export function between(actual: unknown, least: number, most: number, what: string): void {
  const holds = typeof actual === 'number' && actual >= least && actual <= most;
  ensure(holds, `${what}: expected ${least} to ${most}, got ${show(actual)}`);
}

/** The answer is of that kind; returned as such. */
export function ofKind<A extends { readonly kind: string }, K extends A['kind']>(
  answer: A,
  kind: K,
  what: string,
): Extract<A, { readonly kind: K }> {
  ensure(answer.kind === kind, `${what}: expected the answer '${kind}', got ${show(answer)}`);
  return answer as Extract<A, { readonly kind: K }>;
}

/** There is something. */
export function present<T>(value: T | undefined, what: string): T {
  ensure(value !== undefined, `${what}: expected something, got undefined`);
  return value;
}

/** The promise rejects with such an error. Throwing instead of rejecting does not count. */
export async function rejects(
  promise: Promise<unknown>,
  isExpected: (error: unknown) => boolean,
  what: string,
): Promise<void> {
  let rejection: { readonly error: unknown } | undefined;
  const answer = await promise.catch((error: unknown) => {
    rejection = { error };
  });
  ensure(rejection !== undefined, `${what}: expected a rejection, got ${show(answer)}`);
  ensure(isExpected(rejection.error), `${what}: rejected with another error, ${show(rejection.error)}`);
}

const LONGEST_SHOWN = 500;

function show(value: unknown): string {
  const text = value instanceof Error ? `${value.name}: ${value.message}` : asJson(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

function asJson(value: unknown): string {
  const isSpecial = typeof value === 'number' && !Number.isFinite(value);
  return isSpecial ? String(value) : (JSON.stringify(value) ?? String(value));
}
