import { BACKEND_RULE, type BackendParts, isBackend, isLock, NO_PARTS, partsOf } from '../engine/backend.ts';
import type { Backend, Logger, SharedOptions } from '../index.ts';
import { OptionChecks, ownOptions } from '../option-checks.ts';
import { isPlainObject } from '../plain-object.ts';
import { ACTION_NAMES, type ActionName } from './action-names.ts';
import type { AuditRecord } from './audit-record.ts';
import type { JournalBackend } from './journal.ts';
import { type Redact, shownText } from './redact.ts';
import { redactHook } from './redact-hook.ts';
import { urlOf } from './same-origin.ts';

/** A person or a program, as `authorize` knows it. */
export interface Operator {
  /** The name, for the audit and for other operators. Not empty. */
  readonly by: string;
  /** The actions that it may carry out, of those that the option `actions` allows. `false`, or present and `undefined`: only read. @default left out: all of these */
  readonly actions?: boolean | readonly ActionName[] | undefined;
}

/** The result of `authorize`: the operator, a response to send instead (a login page, 401), or nothing for a refusal. */
export type Authorized = string | Operator | Response | undefined | null | false;

/** A value that is about to be shown. */
export interface ShownAbout {
  /** The name of the member. */
  readonly name: string;
  /** The key, of a cache. */
  readonly key?: unknown;
  /** Of a part of a value, in the comparison of two versions: its key, index or id. */
  readonly part?: unknown;
}

/** The options of {@link consoleHandler}. */
export interface ConsoleOptions {
  /**
   * Returns the operator that sends the request, by its cookie or header: a name, or an {@link Operator} with rights of its
   * own. `undefined`, `null`, `false`, an empty name, or an error that it throws refuse with 403; a `Response` is sent as it
   * is. May be asynchronous. It must not read the body of the request.
   *
   * @param context the second argument of the handler: of `tickless/console/node` the request of Node.
   * @default undefined: every request is refused with 403
   */
  readonly authorize?:
    | ((request: Request, context: unknown) => Authorized | PromiseLike<Authorized>)
    | undefined;
  /** The actions of operators: `true` all, or a list of names. @default false: nothing, the console is read-only */
  readonly actions?: boolean | readonly ActionName[] | undefined;
  /**
   * Returns what is shown of a value, to operators, as JSON: leave out what they must not see. `undefined`: nothing is shown.
   * At most 65,536 characters of it are shown; an error that it throws shows nothing.
   * @default undefined: no values and no parts of values are shown
   */
  readonly showValue?: ((value: unknown, about: ShownAbout) => unknown) | undefined;
  /**
   * Hides more in a text that operators are about to see, such as tokens of your company, and returns what is shown. It is
   * called with each text in which known credentials are hidden: messages, stacks, keys, hosts, values of `showValue`, notes,
   * audit records, also words of the console itself such as `fresh`. Not with names of members. It sees a text before that is
   * cut, 65,536 characters at most, and may be given its own result again. It is synchronous, and should take microseconds:
   * it runs in the turns in which overviews are made. Where it throws, or returns something else than a string, all of the
   * text is hidden, and the first time is logged by the logger of the group.
   *
   * @default undefined: only known credentials are hidden
   */
  readonly redact?: ((text: string) => string) | undefined;
  /** The path of the page; the API is below it. Begins with `/`. @default '/tickless' */
  readonly path?: string | undefined;
  /**
   * The origin under which browsers see it, such as `https://admin.example`: requests for another host are refused. Set
   * it where a proxy changes the host, and against DNS rebinding where `authorize` trusts a network.
   * @default undefined: the `Origin` of a request must have the host of its URL
   */
  readonly origin?: string | undefined;
  /**
   * Signs the tokens against cross-site requests; at least 32 characters, the same on all instances behind one address.
   * @default random: a token of one instance is not valid on another, nor after a restart; the page then asks again
   */
  readonly secret?: string | undefined;
  /** Further backends whose records are shown, such as that of a `lockedTask`, and locks of `asLock`. Those of members are known. @default none */
  readonly locks?: readonly NonNullable<SharedOptions['lock']>[] | undefined;
  /** Where audit records are kept for all instances that share it. @default none: the audit is of this instance */
  readonly backend?: Backend | undefined;
  /** Receives each audit record, for a log of yours. Its errors are ignored. @default none */
  readonly onAudit?: ((record: AuditRecord) => void) | undefined;
  /**
   * Receives a promise of what goes on behind an answer: audit records on their way to the store. For platforms that drop it
   * otherwise, such as workerd. Its errors are ignored. @default none
   */
  readonly waitUntil?: SharedOptions['waitUntil'];
  /**
   * How often an open page is sent what has changed without an event, in milliseconds: from 250 to 60,000. Nothing runs while
   * no page is open. @default 2000
   */
  readonly refreshEvery?: number | undefined;
}

/** The options with nothing optional left. */
export interface ResolvedConsoleOptions
  extends Pick<ConsoleOptions, 'authorize' | 'showValue' | 'onAudit' | 'waitUntil'> {
  readonly actions: ReadonlySet<ActionName>;
  /** Never throws. */
  readonly redact: Redact;
  /** Without a slash at its end; empty: the root. */
  readonly base: string;
  readonly origin: URL | undefined;
  /** `undefined`: a random one, made when the first token is signed: workerd forbids it outside of requests. */
  readonly secret: string | undefined;
  readonly locks: readonly BackendParts[];
  readonly backend: JournalBackend | undefined;
  readonly refreshEveryMs: number;
}

const NAMES: readonly (keyof ConsoleOptions)[] = [
  'authorize',
  'actions',
  'showValue',
  'redact',
  'path',
  'origin',
  'secret',
  'locks',
  'backend',
  'onAudit',
  'waitUntil',
  'refreshEvery',
];

/** @throws {TicklessError} `OPTION` naming every option that breaks a rule. */
export function resolveConsoleOptions(
  options: ConsoleOptions = {},
  logger: Logger | false = console,
): ResolvedConsoleOptions {
  const given: ConsoleOptions = ownOptions(options ?? {});
  const { authorize, actions = false, showValue, path = '/tickless', origin, secret } = given;
  const { locks = [], backend, onAudit, waitUntil, redact, refreshEvery = 2000 } = given;
  const checks = new OptionChecks('console');
  checks.that(options !== null, 'options', 'must be an object', options);
  checks.names('', given, NAMES);
  for (const [option, received] of Object.entries({ authorize, showValue, redact, onAudit, waitUntil })) {
    if (received !== undefined) checks.function(option, received);
  }
  const rule = `must be true, false or a list of ${ACTION_NAMES.join(', ')}`;
  checks.that(isActions(actions), 'actions', rule, actions);
  const isPath = typeof path === 'string' && /^(?:\/|(?:\/[\w\-.~]+)+\/?)$/.test(path);
  checks.that(isPath, 'path', 'must begin with / and consist of letters, digits and -._~/', path);
  const parsed = typeof origin === 'string' ? urlOf(origin) : undefined;
  const isOrigin = origin === undefined || parsed?.origin === origin;
  checks.that(isOrigin, 'origin', 'must be an origin such as https://admin.example', origin);
  const isSecret = secret === undefined || (typeof secret === 'string' && secret.length >= 32);
  checks.that(isSecret, 'secret', 'must be a text of at least 32 characters', secret && '(not shown)');
  const areLocks = Array.isArray(locks) && locks.every(isLock);
  checks.that(areLocks, 'locks', 'must be an array of backends or locks', locks);
  checks.that(backend === undefined || isBackend(backend), 'backend', BACKEND_RULE, backend);
  const isEvery = typeof refreshEvery === 'number' && refreshEvery >= 250 && refreshEvery <= 60_000;
  checks.that(isEvery, 'refreshEvery', 'must be a number of milliseconds from 250 to 60,000', refreshEvery);
  checks.done();
  return {
    authorize,
    actions: new Set(chosen(actions, ACTION_NAMES)),
    showValue,
    redact: redactHook(redact, logger),
    base: path.replace(/\/+$/, ''),
    origin: parsed,
    secret,
    locks: locks.map(
      (one) => partsOf(isBackend(one) ? one : false, isBackend(one) ? undefined : one) ?? NO_PARTS,
    ),
    backend: backend as JournalBackend | undefined,
    onAudit,
    waitUntil,
    refreshEveryMs: refreshEvery,
  };
}

/** The actions that are meant, of those that may be. */
function chosen(
  actions: boolean | readonly ActionName[],
  allowed: Iterable<ActionName>,
): readonly ActionName[] {
  if (typeof actions === 'boolean') return actions ? [...allowed] : [];
  return [...allowed].filter((action) => actions.includes(action));
}

function isActions(actions: unknown): boolean {
  if (typeof actions === 'boolean') return true;
  return Array.isArray(actions) && actions.every((action) => ACTION_NAMES.includes(action));
}

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
