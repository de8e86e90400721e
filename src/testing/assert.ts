// Assertions of the conformance suites: they throw plain errors, which any test runner can show.

import { type ErrorCode, isTicklessError } from '../errors.ts';

/** Throws an error with the message unless the condition holds. */
export function ensure(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}

/** Both values are the same primitive. */
export function same(actual: unknown, expected: unknown, what: string): void {
  ensure(Object.is(actual, expected), `${what}: expected ${show(expected)}, got ${show(actual)}`);
}

/** The fields of the value are these primitives. @param of behind the name of a field in the error. */
export function sameFields<T extends object>(
  actual: T,
  expected: Partial<Record<keyof T, unknown>>,
  of = '',
): void {
  for (const field of Object.keys(expected) as (keyof T)[])
    same(actual[field], expected[field], `${String(field)}${of}`);
}

/** Both lists hold the same primitives in the same order. */
export function sameList(actual: readonly unknown[], expected: readonly unknown[], what: string): void {
  const isSame = actual.length === expected.length && actual.every((one, i) => Object.is(one, expected[i]));
  ensure(isSame, `${what}: expected ${show(expected)}, got ${show(actual)}`);
}

export function namesOf(all: readonly { readonly name: string }[]): string[] {
  return all.map(({ name }) => name);
}

/** The value is a number from `least` to `most`, inclusive. */
export function between(actual: unknown, least: number, most: number, what: string): void {
  const holds = typeof actual === 'number' && actual >= least && actual <= most;
  ensure(holds, `${what}: expected ${least} to ${most}, got ${show(actual)}`);
}

/** The answer has that kind; returns it with the narrowed type. */
export function ofKind<A extends { readonly kind: string }, K extends A['kind']>(
  answer: A,
  kind: K,
  what: string,
): Extract<A, { readonly kind: K }> {
  ensure(answer.kind === kind, `${what}: expected the answer '${kind}', got ${show(answer)}`);
  return answer as Extract<A, { readonly kind: K }>;
}

/** The value is not undefined; returns it. */
export function present<T>(value: T | undefined, what: string): T {
  ensure(value !== undefined, `${what}: expected something, got undefined`);
  return value;
}

/** The promise rejects with an error of that code. A synchronous throw does not count. */
export async function rejects(promise: Promise<unknown>, code: ErrorCode, what: string): Promise<void> {
  let rejection: { readonly error: unknown } | undefined;
  const answer = await promise.catch((error: unknown) => {
    rejection = { error };
  });
  ensure(rejection !== undefined, `${what}: expected a rejection, got ${show(answer)}`);
  ensure(
    isTicklessError(rejection.error, code),
    `${what}: rejected with another error, ${show(rejection.error)}`,
  );
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
