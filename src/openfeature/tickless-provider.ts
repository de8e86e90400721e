import { deepEqual } from '../data/deep-equal.ts';
import { isTicklessError } from '../errors.ts';
import type { EventOf, EventType } from '../index.ts';
import { messageOf } from '../observe/logger.ts';
import { namesArgument, OptionChecks, ownOptions } from '../option-checks.ts';
import { firstFew } from '../printable.ts';
import { changedFlags, type Edition, editionOf } from './edition.ts';
import type { Resolution } from './flag.ts';
import { codeOf, ProviderStatus } from './provider-status.ts';
import {
  ErrorCode,
  type EvaluationContext,
  type FlagMetadata,
  type FlagValue,
  type FlagValueType,
  GeneralError,
  type JsonValue,
  type Logger,
  OpenFeatureEventEmitter,
  ParseError,
  type Provider,
  ProviderEvents,
  ProviderFatalError,
  Reason,
  type ResolutionDetails,
} from './sdk.ts';
import { checkTargeting, type MakeEvaluator, type TargetingOptions } from './targeting.ts';

/** The used part of the value with the definitions: of a `RefreshingValue`, or of a value made by `derive`, which has no events. */
export interface FlagsValue {
  get(): Promise<unknown>;
  readonly current: unknown;
  on?<E extends EventType>(type: E, listener: (event: EventOf<E>) => void): () => void;
}

/** The options of {@link ticklessProvider}; only `flags` is required. */
export interface TicklessProviderOptions extends TargetingOptions {
  /**
   * The definitions of the flags (`FlagDefinitions`): a `RefreshingValue`, a value made by `derive`, a function made by
   * `refreshing` without arguments. It stays yours: the provider never closes it.
   */
  readonly flags: FlagsValue;
}

/**
 * A provider of the OpenFeature SDK for servers over a value with the definitions of the flags. An evaluation reads that value,
 * from memory, and a due reload runs behind it: flags need no timer, stream or thread of their own.
 *
 * ```ts
 * import { OpenFeature } from '@openfeature/server-sdk';
 * import { RefreshingValue } from 'tickless';
 * import { flagsSchema, ticklessProvider } from 'tickless/openfeature';
 *
 * const flags = new RefreshingValue({
 *   name: 'flags',
 *   load: async () => ({ 'new-checkout': true, 'page-size': 20 }), // or flagd's format
 *   schema: flagsSchema(), // definitions that can't be evaluated never replace good ones
 *   schedule: '30s',
 * });
 * await OpenFeature.setProviderAndWait(ticklessProvider({ flags }));
 * console.log(await OpenFeature.getClient().getBooleanValue('new-checkout', false)); // prints: true
 * await OpenFeature.close();
 * ```
 *
 * An evaluation never waits and never rejects. It gets the default of the caller where the flag is unknown
 * (`FLAG_NOT_FOUND`), has another type (`TYPE_MISMATCH`) or a definition that can't be evaluated (`PARSE_ERROR`), where nothing
 * is loaded yet (`PROVIDER_NOT_READY`), and where the value refuses reads, such as beyond `maxStaleness` (`GENERAL`).
 *
 * `initialize` waits for the first definitions. Events: `PROVIDER_CONFIGURATION_CHANGED` with the names of the flags that differ;
 * `PROVIDER_STALE` after a failed reload, and once the value is closed: evaluations have the reason `STALE` then;
 * `PROVIDER_ERROR` where a read fails, or definitions can't be evaluated; `PROVIDER_READY` when that is over. Nothing
 * runs between evaluations, so a value that nothing reads reports nothing. Of a value without events only the next evaluation
 * notices a change, and `PROVIDER_STALE` is not known.
 *
 * @throws {TicklessError} `OPTION` for an unknown option, for `flags` that can't be read, and where `targeting` makes no evaluator.
 */
export function ticklessProvider(given: TicklessProviderOptions): Provider {
  const { flags, targeting } = ownOptions(given ?? ({} as TicklessProviderOptions));
  namesArgument('ticklessProvider', given, ['flags', 'targeting']);
  const checks = new OptionChecks('ticklessProvider');
  const isValue = typeof flags?.get === 'function' && 'current' in flags;
  checks.that(isValue, 'flags', 'must be a value with get() and current, such as a RefreshingValue', flags);
  checkTargeting(targeting, checks);
  checks.done();
  return new TicklessProvider(flags, targeting);
}

type Question<T> = [name: string, defaultValue: T, context: EvaluationContext, logger: Logger];

class TicklessProvider implements Provider {
  readonly metadata = { name: 'tickless' } as const;
  readonly runsOn = 'server';
  readonly events: OpenFeatureEventEmitter = new OpenFeatureEventEmitter();
  readonly #flags: FlagsValue;
  readonly #targeting: MakeEvaluator | undefined;
  readonly #status: ProviderStatus = new ProviderStatus(this.events);
  /** The value that the edition was made of. */
  #definitions: unknown;
  #edition: Edition | undefined;
  #unsubscribe: readonly (() => void)[] = [];

  constructor(flags: FlagsValue, targeting: MakeEvaluator | undefined) {
    this.#flags = flags;
    this.#targeting = targeting;
  }

  /** Waits for the first definitions. Rejects where there are none, and where one of them can't be evaluated. */
  async initialize(): Promise<void> {
    this.#listen();
    const listening = this.#unsubscribe;
    const error = await this.#firstError();
    const isClosed = this.#unsubscribe !== listening; // meanwhile, or initialized again
    if (!isClosed) this.#status.start(error === undefined ? 'ready' : 'error');
    if (error !== undefined) throw error;
  }

  async #firstError(): Promise<Error | undefined> {
    try {
      const { problems } = this.#follow(await this.#flags.get());
      return problems.length === 0 ? undefined : new ParseError(shown(problems));
    } catch (cause) {
      this.#status.note({ readError: cause });
      const Class = isTicklessError(cause, 'CLOSED') ? ProviderFatalError : GeneralError;
      return new Class(messageOf(cause), { cause });
    }
  }

  async onClose(): Promise<void> {
    this.#status.stop();
    this.#unlisten();
  }

  #unlisten(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#unsubscribe = [];
  }

  async resolveBooleanEvaluation(...question: Question<boolean>): Promise<ResolutionDetails<boolean>> {
    return this.#evaluate('boolean', question);
  }

  async resolveStringEvaluation(...question: Question<string>): Promise<ResolutionDetails<string>> {
    return this.#evaluate('string', question);
  }

  async resolveNumberEvaluation(...question: Question<number>): Promise<ResolutionDetails<number>> {
    return this.#evaluate('number', question);
  }

  async resolveObjectEvaluation<T extends JsonValue>(
    ...question: Question<T>
  ): Promise<ResolutionDetails<T>> {
    return this.#evaluate('object', question);
  }

  #evaluate<T extends FlagValue>(
    type: FlagValueType,
    [name, defaultValue, context, logger]: Question<T>,
  ): ResolutionDetails<T> {
    const asked: Asked<T> = { name, type, defaultValue, context, logger };
    let edition: Edition;
    try {
      edition = this.#follow(this.#flags.current);
      this.#status.note({ readError: undefined });
    } catch (error) {
      this.#status.note({ readError: error });
      return failed(asked, codeOf(error), messageOf(error));
    } finally {
      this.#status.publish();
    }
    return resolve(edition, asked, this.#status.isOutdated);
  }

  /** The edition of these definitions; a new one is reported. */
  #follow(definitions: unknown): Edition {
    const before = this.#edition;
    if (before !== undefined && definitions === this.#definitions) return before;
    const edition = editionOf(definitions, this.#targeting);
    this.#definitions = definitions;
    this.#edition = edition;
    const { problems } = edition;
    this.#status.note({ problem: problems.length === 0 ? undefined : shown(problems) });
    this.#status.publish();
    const flagsChanged = this.#status.isStarted ? changedFlags(before, edition, deepEqual) : [];
    if (flagsChanged.length > 0) this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged });
    return edition;
  }

  #listen(): void {
    this.#unlisten(); // of a provider that is initialized twice
    const flags = this.#flags;
    const answered = (): void => {
      this.#status.note({ readError: undefined, outdated: undefined });
      this.#status.publish();
    };
    const outdated = (reason: string): void => {
      this.#status.note({ outdated: reason });
      this.#status.publish();
    };
    this.#unsubscribe = [
      flags.on?.('load-ended', ({ outcome, retryAt, error }) => {
        if (outcome === 'loaded' || outcome === 'kept' || outcome === 'adopted') answered();
        else if (error !== undefined && retryAt !== undefined) outdated(messageOf(error));
      }),
      flags.on?.('changed', ({ value }) => {
        answered();
        this.#follow(value);
      }),
      flags.on?.('closed', ({ name }) => outdated(`${name}: is closed, and loads no more`)),
    ].filter((unsubscribe) => unsubscribe !== undefined);
  }
}

/** An edition may have a problem in each of a thousand flags. */
const MOST_SHOWN = 5;

function shown(problems: readonly string[]): string {
  return firstFew(problems, MOST_SHOWN, (problem) => problem, '; ');
}

/** The arguments of an evaluation. */
interface Asked<T extends FlagValue> {
  readonly name: string;
  readonly type: FlagValueType;
  readonly defaultValue: T;
  readonly context: EvaluationContext;
  readonly logger: Logger;
}

/** The result of a flag of that edition, in the type that was asked for. @param isStale the edition may be out of date. */
function resolve<T extends FlagValue>(
  edition: Edition,
  asked: Asked<T>,
  isStale: boolean,
): ResolutionDetails<T> {
  const { name, type, context, logger } = asked;
  const flag = edition.flags.get(name);
  if (flag === undefined) return failed(asked, ErrorCode.FLAG_NOT_FOUND, `flag '${name}' not found`);
  const resolution = flag.evaluate(context, logger);
  const { value, errorCode, errorMessage = '', flagMetadata } = resolution;
  if (errorCode !== undefined) return failed(asked, errorCode as ErrorCode, errorMessage, flagMetadata);
  if (value === undefined) return { ...(resolution as ResolutionDetails<T>), value: asked.defaultValue };
  if (typeof value !== type) {
    const message = `flag '${name}' is a ${typeof value}, not a ${type}`;
    return failed(asked, ErrorCode.TYPE_MISMATCH, message, flagMetadata);
  }
  const details = { ...(resolution as ResolutionDetails<T>) };
  if (isStale) details.reason = Reason.STALE;
  return details;
}

/** The default of the caller, for that error. */
function failed<T extends FlagValue>(
  { defaultValue }: Pick<Asked<T>, 'defaultValue'>,
  errorCode: ErrorCode,
  errorMessage: string,
  flagMetadata: Resolution['flagMetadata'] = {},
): ResolutionDetails<T> {
  return {
    value: defaultValue,
    reason: Reason.ERROR,
    errorCode,
    errorMessage,
    flagMetadata: flagMetadata as FlagMetadata,
  };
}
