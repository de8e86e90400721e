import { DevalueError, parse, stringify } from 'devalue';
import type { Codec } from '../cluster/store-contract.ts';
import { strictJson } from './strict-json.ts';

/** Marks a text of devalue. No JSON text begins like this. */
const DEVALUE = 'devalue:';

/**
 * The codec of stores without an option `codec`: JSON for a value that JSON keeps exactly, else devalue, which also keeps
 * `Map`, `Set`, `Date`, `BigInt`, typed arrays, `RegExp`, `URL`, `undefined`, `NaN`, `-0`, and references within the value.
 *
 * JSON is several times as fast, and older versions of tickless read it; they reject a text of devalue as damaged.
 */
export const defaultCodec: Codec = {
  format: 'json',
  encode(value) {
    try {
      return strictJson(value);
    } catch {
      return DEVALUE + stringified(value);
    }
  },
  decode(encoded) {
    const text = encoded as string;
    // devalue refuses `__proto__` as a key, JSON.parse makes a property of it like any other.
    return text.startsWith(DEVALUE) ? parse(text.slice(DEVALUE.length)) : JSON.parse(text);
  },
};

/** @throws {TypeError} for functions, symbols, and instances of classes that devalue does not know. */
function stringified(value: unknown): string {
  try {
    return stringify(value);
  } catch (error) {
    if (!(error instanceof DevalueError)) throw error;
    const at = error.path === '' ? '' : ` (at ${error.path})`;
    throw new TypeError(`the default codec can't keep ${kindOf(error)}${at}; give the store a codec`);
  }
}

function kindOf({ value, message }: DevalueError): string {
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  const name: unknown = Object(value).constructor?.name;
  return typeof name === 'string' && name !== 'Object' ? `a ${name}` : `this value: ${message}`;
}
