import { commandTimeoutMs, DEFAULT_TIMEOUT_MS, timeoutSignal } from '../../cluster/time-limits.ts';
import { OptionChecks } from '../../option-checks.ts';
import { systemClock } from '../../time/clock.ts';
import { type DurationLike, toMillis } from '../../time/duration.ts';
import { DateClock } from '../cas/date-clock.ts';
import type { DynamodbCall, DynamodbClient, DynamodbMiddleware, DynamodbOptions } from './client-types.ts';

/** The service answers from many machines, and a machine may keep its header for a moment. */
const STALE_MS = 100;

/** A client, the time that a command of it may take, and the clock of the service. */
export class Dynamodb {
  readonly client: DynamodbClient;
  readonly timeoutMs: number;
  readonly clock: DateClock = new DateClock(systemClock.monotonic, STALE_MS);

  /** @throws {TicklessError} `OPTION` when one of these options breaks a rule. */
  constructor(options: DynamodbOptions & { readonly timeout?: DurationLike | undefined }) {
    const { client, timeout } = options ?? {};
    const checks = new OptionChecks('backend');
    checks.methods('client', client, METHODS);
    checks.done();
    this.client = client;
    this.timeoutMs = toMillis(timeout ?? DEFAULT_TIMEOUT_MS);
    client.middlewareStack.add(this.#watch, { step: 'deserialize', priority: 'low' });
  }

  /** The options of a step: its commands end at the timeout, those that the client repeats too. */
  call(): DynamodbCall {
    return { abortSignal: timeoutSignal(commandTimeoutMs(this.timeoutMs)) };
  }

  /** Next to the wire, so it sees each try, and answers that are errors. */
  readonly #watch: DynamodbMiddleware = (next) => async (args) => {
    const sentAt = this.clock.now();
    const result = await next(args);
    this.clock.learn(dateOf(result), sentAt);
    return result;
  };
}

const METHODS = ['getItem', 'batchGetItem', 'putItem', 'deleteItem', 'query', 'scan'];

function dateOf(result: unknown): string | undefined {
  const { response } = result as { readonly response?: { readonly headers?: Record<string, string> } };
  const headers = response?.headers ?? {};
  return headers.date ?? headers.Date;
}
