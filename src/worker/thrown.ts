import { retryAfterMs } from '../engine/retry-after.ts';

/**
 * What was thrown, in a form that can be cloned. The structured clone alone would lose the class, the properties (a
 * `code`, a `status`, `retryAfter`) and, in some versions of Node, the cause.
 */
export type Thrown = ThrownError | { readonly kind: 'other'; readonly value: unknown };

interface ThrownError {
  readonly kind: 'error';
  /** The built-in class that it is of. */
  readonly base: Base;
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** Its other properties, as far as they can be cloned. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly cause: Thrown | undefined;
  /** Those of an `AggregateError`. */
  readonly errors: readonly Thrown[];
  /** How long the source asked to be left alone, wherever the error says it. */
  readonly retryAfterMs: number;
}

type Native = 'TypeError' | 'RangeError' | 'SyntaxError' | 'ReferenceError' | 'EvalError' | 'URIError';
type Base = 'Error' | Native | 'AggregateError' | 'DOMException';

const NATIVES: Readonly<Record<Native, new (message: string) => Error>> = {
  TypeError: TypeError,
  RangeError: RangeError,
  SyntaxError: SyntaxError,
  ReferenceError: ReferenceError,
  EvalError: EvalError,
  URIError: URIError,
};

/** Causes can run in a circle. */
const MOST_CAUSES = 8;
const OWN = ['name', 'message', 'stack', 'cause', 'errors'];

/** Takes apart what was thrown. Never throws. */
export function flattened(thrown: unknown, depth: number = 0): Thrown {
  try {
    if (!(thrown instanceof Error))
      return { kind: 'other', value: cloneable(thrown) ? thrown : String(thrown) };
    const { name, message, stack, cause, errors } = thrown as AggregateError;
    const properties = Object.entries(thrown).filter(
      ([key, value]) => !OWN.includes(key) && cloneable(value),
    );
    const inner = (one: unknown): Thrown => flattened(one, depth + 1);
    return {
      kind: 'error',
      base: baseOf(thrown),
      name: String(name),
      message: String(message),
      stack: typeof stack === 'string' ? stack : undefined,
      properties: Object.fromEntries(properties),
      cause: cause === undefined || depth >= MOST_CAUSES ? undefined : inner(cause),
      errors: Array.isArray(errors) && depth < MOST_CAUSES ? errors.map(inner) : [],
      retryAfterMs: retryAfterMs(thrown, Date.now()),
    };
  } catch {
    return { kind: 'other', value: 'a thrown value that can not be read' }; // a getter that throws, no string form
  }
}

/** Puts together what was thrown in the other thread. */
export function revived(thrown: Thrown): unknown {
  if (thrown.kind === 'other') return thrown.value;
  const { base, name, message, stack, properties, cause, errors, retryAfterMs } = thrown;
  const error = errorOf(base, name, message, errors);
  const hidden = { configurable: true, writable: true, enumerable: false };
  if (error.name !== name) Object.defineProperty(error, 'name', { ...hidden, value: name });
  if (stack !== undefined) Object.defineProperty(error, 'stack', { ...hidden, value: stack });
  if (cause !== undefined) Object.defineProperty(error, 'cause', { ...hidden, value: revived(cause) });
  for (const [key, value] of Object.entries(properties)) {
    Object.defineProperty(error, key, { ...hidden, enumerable: true, value });
  }
  // It stood in headers that could not be cloned, maybe.
  if (retryAfterMs > 0 && !('retryAfter' in error)) Object.assign(error, { retryAfter: retryAfterMs / 1000 });
  return error;
}

function baseOf(error: Error): Base {
  if (error instanceof AggregateError) return 'AggregateError';
  if (error instanceof DOMException) return 'DOMException';
  const natives = Object.keys(NATIVES) as Native[];
  return natives.find((native) => error instanceof NATIVES[native]) ?? 'Error';
}

function errorOf(base: Base, name: string, message: string, errors: readonly Thrown[]): Error {
  switch (base) {
    case 'Error':
      return new Error(message);
    case 'AggregateError':
      return new AggregateError(errors.map(revived), message);
    case 'DOMException':
      return new DOMException(message, name);
    default:
      return new NATIVES[base](message);
  }
}

function cloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
