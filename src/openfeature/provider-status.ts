import { isTicklessError } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import { ErrorCode, type OpenFeatureEventEmitter, ProviderEvents } from './sdk.ts';

type Status = 'ready' | 'stale' | 'error';

const EVENTS = {
  ready: ProviderEvents.Ready,
  stale: ProviderEvents.Stale,
  error: ProviderEvents.Error,
} as const;

/** The causes of the status of a provider; `undefined`: all is well. */
interface Facts {
  /** Why the last read failed: there are no definitions to evaluate. */
  readError: unknown;
  /** The faults of the definitions in place. */
  problem: string | undefined;
  /** Why the definitions in place may be out of date. */
  outdated: string | undefined;
}

/** The status of a provider, and its events: one for each change of the status. */
export class ProviderStatus {
  readonly #events: OpenFeatureEventEmitter;
  readonly #facts: Partial<Facts> = {};
  /** The status that the SDK knows of; `undefined`: it initializes the provider, and emits the event of the result itself. */
  #known: Status | undefined;

  constructor(events: OpenFeatureEventEmitter) {
    this.#events = events;
  }

  /** The SDK has heard the result of `initialize`, or does so next. */
  start(known: Status): void {
    this.#known = known;
  }

  /** Emits nothing from now on, and forgets what only events would mend. */
  stop(): void {
    this.#known = undefined;
    this.note({ readError: undefined, outdated: undefined });
  }

  get isStarted(): boolean {
    return this.#known !== undefined;
  }

  get isOutdated(): boolean {
    return this.#facts.outdated !== undefined;
  }

  /** Notes facts, and emits nothing before {@link publish}. */
  note(facts: Partial<Facts>): void {
    Object.assign(this.#facts, facts);
  }

  /** Emits an event if the status is another one than the SDK knows of. */
  publish(): void {
    const [status, details] = statusOf(this.#facts);
    if (this.#known === undefined || this.#known === status) return;
    this.#known = status;
    this.#events.emit(EVENTS[status], details);
  }
}

function statusOf({
  readError,
  problem,
  outdated,
}: Partial<Facts>): [Status, { message?: string; errorCode?: ErrorCode }] {
  if (readError !== undefined)
    return ['error', { message: messageOf(readError), errorCode: codeOf(readError) }];
  if (problem !== undefined) return ['error', { message: problem, errorCode: ErrorCode.PARSE_ERROR }];
  return outdated === undefined ? ['ready', {}] : ['stale', { message: outdated }];
}

/** Why there is nothing to evaluate. */
export function codeOf(error: unknown): ErrorCode {
  if (isTicklessError(error, 'NOT_LOADED') || isTicklessError(error, 'COOLING_DOWN'))
    return ErrorCode.PROVIDER_NOT_READY;
  return isTicklessError(error, 'CLOSED') ? ErrorCode.PROVIDER_FATAL : ErrorCode.GENERAL;
}
