import { retryAfterMs } from '../engine/retry-after.ts';

/**
 * A thrown value in a form that can be cloned. The structured clone of an error alone loses its class, its properties
 * (a `code`, a `status`, `retryAfter`) and, in some versions of Node, its cause.
 */
export type EncodedError = EncodedErrorObject | { readonly kind: 'other'; readonly value: unknown };

interface EncodedErrorObject {
  readonly kind: 'error';
  /** The built-in class of the error. */
  readonly base: Base;
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** The other properties that can be cloned. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly cause: EncodedError | undefined;
  /** The `errors` of an `AggregateError`. */
  readonly errors: readonly EncodedError[];
  /** The `Retry-After` of the source, wherever the error holds it; 0: none. */
  readonly retryAfterMs: number;
}

type Native =
  | 'TypeError'
  | 'RangeError'
  | 'SyntaxError'
  | 'ReferenceError'
  | 'EvalError'
  | 'URIError'
  | 'Error';
type Base = Native | 'AggregateError' | 'DOMException';
type NativeClass = new (message: string) => Error;

/** The last one is that of all others. */
const NATIVES: Readonly<Record<Native, NativeClass>> = {
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  EvalError,
  URIError,
  Error,
};

/** Causes can form a cycle. */
const MOST_CAUSES = 8;
/** Errors inside of one, at any depth: all are decoded in one turn of the event loop. */
const MOST_INNER = 100;
/** A property with more than that stays in its thread, in bytes. */
const MOST_BYTES = 65_536;
/** A longer text of the error itself is cut, in characters. */
const MOST_CHARACTERS = 65_536;
/** Further properties stay in their thread. */
const MOST_PROPERTIES = 100;
const ENCODED_APART = ['name', 'message', 'stack', 'cause', 'errors'];

/** Never throws. */
export function encodeError(thrown: unknown): EncodedError {
  let left = MOST_INNER;
  return encoded(thrown, 0, () => left-- > 0);
}

/** @param takes whether one more error may be encoded. */
function encoded(thrown: unknown, depth: number, takes: () => boolean): EncodedError {
  try {
    if (!(thrown instanceof Error))
      return { kind: 'other', value: isCloneable(thrown) ? thrown : cut(String(thrown)) };
    const { name, message, stack, cause, errors } = thrown as AggregateError;
    const properties = Object.entries(thrown)
      .filter(([key]) => !ENCODED_APART.includes(key))
      .slice(0, MOST_PROPERTIES)
      .filter(([, value]) => isCloneable(value));
    const hasInner = depth < MOST_CAUSES;
    const inner = (one: unknown): EncodedError[] => (takes() ? [encoded(one, depth + 1, takes)] : []);
    return {
      kind: 'error',
      base: baseOf(thrown),
      name: cut(String(name)),
      message: cut(String(message)),
      stack: typeof stack === 'string' ? cut(stack) : undefined,
      properties: Object.fromEntries(properties),
      cause: cause === undefined || !hasInner ? undefined : inner(cause)[0],
      errors: Array.isArray(errors) && hasInner ? errors.slice(0, MOST_INNER).flatMap(inner) : [],
      retryAfterMs: retryAfterMs(thrown, Date.now()),
    };
  } catch {
    return { kind: 'other', value: 'a thrown value that cannot be read' }; // a getter threw, or it has no string form
  }
}

function cut(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

export function decodeError(encoded: EncodedError): unknown {
  if (encoded.kind === 'other') return encoded.value;
  const { base, name, message, stack, properties, cause, errors, retryAfterMs } = encoded;
  const error = newError(base, name, message, errors);
  const hidden = { configurable: true, writable: true, enumerable: false };
  if (error.name !== name) Object.defineProperty(error, 'name', { ...hidden, value: name });
  if (stack !== undefined) Object.defineProperty(error, 'stack', { ...hidden, value: stack });
  if (cause !== undefined) Object.defineProperty(error, 'cause', { ...hidden, value: decodeError(cause) });
  for (const [key, value] of Object.entries(properties)) {
    Object.defineProperty(error, key, { ...hidden, enumerable: true, value });
  }
  // It may have stood in headers, which cannot be cloned.
  if (retryAfterMs > 0 && !('retryAfter' in error || 'retryAt' in error))
    Object.assign(error, { retryAfter: retryAfterMs / 1000 });
  return error;
}

function baseOf(error: Error): Base {
  if (error instanceof AggregateError) return 'AggregateError';
  if (error instanceof DOMException) return 'DOMException';
  const natives = Object.keys(NATIVES) as Native[];
  return natives.find((native) => error instanceof NATIVES[native]) as Native;
}

function newError(base: Base, name: string, message: string, errors: readonly EncodedError[]): Error {
  if (base === 'AggregateError') return new AggregateError(errors.map(decodeError), message);
  return base === 'DOMException' ? new DOMException(message, name) : new NATIVES[base](message);
}

function isCloneable(value: unknown): boolean {
  if (typeof value === 'string') return Buffer.byteLength(value) <= MOST_BYTES;
  try {
    structuredClone(value);
    return (
      typeof value !== 'object' ||
      process.getBuiltinModule('node:v8').serialize(value).byteLength <= MOST_BYTES
    );
  } catch {
    return false;
  }
}
