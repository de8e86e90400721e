import { ownOptions } from '../option-checks.ts';
import { isPlainObject } from '../plain-object.ts';
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
  let granted: Rights | Response | undefined;
  try {
    const answer = await authorize(request, context);
    granted = answer instanceof Response ? answer : rightsOf(answer, actions);
  } catch {
    // the error may have details that are not for strangers
  }
  if (granted === undefined) return 'access is refused';
  if (granted instanceof Response) return granted;
  const { by } = granted;
  return { id: await idOf(by), by: shownText(by, LONGEST_NAME, redact), actions: granted.actions };
}

/** The full name of an operator, and the actions that it may carry out. */
type Rights = Pick<Access, 'by' | 'actions'>;

/** `undefined`: none. Throws the errors of getters. */
function rightsOf(
  answer: Exclude<Authorized, Response>,
  allowed: ResolvedConsoleOptions['actions'],
): Rights | undefined {
  const given: Operator | undefined = typeof answer === 'string' ? { by: answer } : answer || undefined;
  if (given === undefined || typeof given !== 'object') return undefined;
  const operator = isPlainObject(given) ? ownOptions(given) : given; // a class may have getters
  const { by } = operator;
  if (typeof by !== 'string' || by.trim() === '') return undefined;
  // Rights that were looked up and not found are none.
  const own = 'actions' in operator ? operator.actions : true;
  const isRight = typeof own === 'boolean' || Array.isArray(own);
  return { by, actions: new Set(isRight ? chosen(own, allowed) : []) };
}

async function idOf(by: string): Promise<string> {
  if (by.length <= LONGEST_NAME) return by;
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(by));
  return `#${Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
