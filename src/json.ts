/** Causes can form a cycle. */
const MOST_CAUSES = 8;

/** Of a list of errors that many are shown. */
export const MOST_LISTED = 3;

/** Beyond this depth of causes and lists, lists are left out: each level multiplies their number. */
const DEEPEST_LIST = 2;

/** The errors that an error lists: those of an `AggregateError`, and `errors` of other libraries. */
export function errorsOf(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [];
  const { errors } = error as Partial<AggregateError>;
  return Array.isArray(errors) ? errors : [];
}

/** Not details of an error: shown before them, or after. */
const LEFT_OUT: readonly string[] = ['name', 'code', 'message', 'cause'];

/** A status that `JSON.stringify` shows as it is, for a log or an endpoint. */
export interface JsonStatus {
  /** The status for JSON: errors with their messages, `Infinity` as text. A value is left as it is. */
  toJSON(): object;
}

/** Gives a status its `toJSON`, which is not enumerable. @returns the same object. */
export function withJson<S extends object>(status: S): S & JsonStatus {
  const toJSON = (): object => mapped(status, statusField);
  return Object.defineProperty(status, 'toJSON', { value: toJSON }) as S & JsonStatus;
}

/** An error for JSON: name, code, message, causes, and the details of an error of tickless. Never throws. */
export function errorJson(error: Error, depth: number = 0): object {
  try {
    const { name, code, message, cause } = error as Error & { readonly code?: unknown };
    const hasCode = typeof code === 'string' || typeof code === 'number';
    const isOwn = name === 'TicklessError' || String(code).startsWith('ERR_TICKLESS_');
    const listed = depth > DEEPEST_LIST ? [] : errorsOf(error);
    const details = Object.entries(error).filter(([name]) => isOwn && !LEFT_OUT.includes(name));
    return {
      name,
      ...(hasCode ? { code } : {}),
      message,
      ...mapped(Object.fromEntries(details), (field) => plainJson(field, depth)),
      ...(listed.length === 0
        ? {}
        : { errors: listed.slice(0, MOST_LISTED).map((one) => plainJson(one, depth + 1)) }),
      ...(listed.length > MOST_LISTED ? { moreErrors: listed.length - MOST_LISTED } : {}),
      ...(cause === undefined || depth >= MOST_CAUSES ? {} : { cause: plainJson(cause, depth + 1) }),
    };
  } catch {
    return { message: 'an error that cannot be read' }; // a proxy, or a getter threw
  }
}

/** A field of a status, or of an object in it: a value is one of the user. */
function statusField(field: unknown, name: string): unknown {
  if (name === 'key') return keyJson(field);
  return name === 'value' ? field : fieldJson(field);
}

/** A key may be any object of the user, such as one that contains itself. */
function keyJson(key: unknown): unknown {
  try {
    return plainJson(key, 0);
  } catch {
    return 'a key that cannot be read';
  }
}

/** A field of a status: an object is one of tickless. */
function fieldJson(field: unknown): unknown {
  if (Array.isArray(field)) return field.map((item) => fieldJson(item));
  const isObject = typeof field === 'object' && field !== null && !(field instanceof Error);
  if (!isObject) return plainJson(field, 0);
  return 'toJSON' in field ? field : mapped(field, statusField);
}

/** A detail of an error: an object is one of the user, a key or a thrown value. */
function plainJson(value: unknown, depth: number): unknown {
  if (value instanceof Error) return errorJson(value, depth);
  if (typeof value === 'string' || typeof value === 'boolean' || value === undefined) return value;
  return typeof value === 'number' && Number.isFinite(value) ? value : String(value);
}

function mapped(object: object, change: (field: unknown, name: string) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([name, field]) => [name, change(field, name)]));
}
