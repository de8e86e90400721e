import type { Logger } from '../index.ts';
import { printable } from '../printable.ts';
import { ignoreThenable } from '../time/deferred.ts';
import { isHashed } from './member-access.ts';
import { asItIs, type Redact, withoutCredentials } from './redact.ts';
import { HIDDEN } from './url-credentials.ts';

/** How many results are known, and how long they are at most: a text that was cut passes again where JSON is made. */
const MOST_KNOWN = 1000;
const LONGEST_KNOWN = 4000;

/** The option `redact` of a console, for texts without known credentials. Never throws: where the hook fails all of a text is hidden. */
export function redactHook(hook: Redact | undefined, logger: Logger | false): Redact {
  if (hook === undefined) return asItIs;
  const known = new Set<string>();
  let isLogged = false;

  function fail(error: unknown): string {
    if (!isLogged && logger !== false) {
      isLogged = true;
      try {
        const reason = printable(withoutCredentials(String(error)));
        const line = `tickless: redact of the console failed, all of the text is hidden: ${reason}`;
        ignoreThenable(logger.error(line));
      } catch {} // user code
    }
    return HIDDEN;
  }

  function call(given: Redact, text: string): string {
    try {
      const result: unknown = given(text);
      if (typeof result === 'string') return result;
      return fail(`it returned ${typeof ignoreThenable(result)}, expected a string`);
    } catch (error) {
      return fail(error);
    }
  }

  return (text) => {
    // Hidden in full already, as an id is that is a hash, by which the page asks for a member or a key.
    if (text === HIDDEN || isHashed(text) || known.has(text)) return text;
    const shown = call(hook, text);
    if (known.size >= MOST_KNOWN) known.clear();
    if (shown.length <= LONGEST_KNOWN) known.add(shown);
    return shown;
  };
}
