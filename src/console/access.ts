import type { ActionName } from './action-names.ts';
import { type Authorized, chosen, type Operator, type ResolvedConsoleOptions } from './console-options.ts';
import { shownText } from './redact.ts';

/** An operator with the rights of this request. */
export interface Access {
  /** Tells operators apart: the name, or of a long one its hash. */
  readonly id: string;
  /** For people: at most 200 characters of the name. */
  readonly by: string;
  readonly actions: ReadonlySet<ActionName>;
}

/** In characters. */
const LONGEST_NAME = 200;

const HOW =
  "The console needs the option authorize: consoleHandler(group, { authorize: (request) => 'name of the operator' or undefined }).";

/** The operator that sends a request; a text: why it is refused; a response of `authorize`: that. Never rejects. */
export async function accessOf(
  request: Request,
  context: unknown,
  { authorize, actions, redact }: Pick<ResolvedConsoleOptions, 'authorize' | 'actions' | 'redact'>,
): Promise<Access | Response | string> {
  if (authorize === undefined) return HOW;
  let by: unknown;
  let own: Exclude<Operator['actions'], undefined>;
  try {
    const answer: Authorized = await authorize(request, context);
    if (answer instanceof Response) return answer;
    const operator = typeof answer === 'string' ? { by: answer } : answer;
    if (typeof operator !== 'object' || operator === null) return 'access is refused';
    by = operator.by;
    // Rights that were looked up and not found are none.
    own = ('actions' in operator ? operator.actions : true) as typeof own;
  } catch {
    return 'access is refused'; // the error may have details that are not for strangers
  }
  if (typeof by !== 'string' || by.trim() === '') return 'access is refused';
  const isRight = typeof own === 'boolean' || Array.isArray(own);
  return {
    id: await idOf(by),
    by: shownText(by, LONGEST_NAME, redact),
    actions: new Set(isRight ? chosen(own, actions) : []),
  };
}

async function idOf(by: string): Promise<string> {
  if (by.length <= LONGEST_NAME) return by;
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(by));
  return `#${Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
