import { channel, tracingChannel } from 'node:diagnostics_channel';
import type { ExecutionStart, ExecutionTrace, Instrument } from '../observe/instrument.ts';
import { isThenable } from '../time/deferred.ts';
import { instrumented, type Observed } from '../value/instrumented.ts';

/** The message of the channels `tracing:tickless:load:*`: one call of a load or task. The same object for all of them. */
export interface LoadMessage {
  /** The `name` option of the member. */
  readonly name: string;
  /** The key, of a cache; no such property elsewhere. */
  readonly key?: unknown;
  readonly trigger: ExecutionStart['trigger'];
  /** No caller waited for it when it was started. */
  readonly background: boolean;
  /** 1 for the first call, and 1 more for each retry. */
  readonly attempt: number;
  /** The error of the load; set before the channel `error`. */
  error?: unknown;
}

const EVENTS = 'tickless:event';
const LOADS = 'tickless:load';
const PHASES = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

/**
 * Publishes what happens to a member, or to all members of a group, on channels of `node:diagnostics_channel`, where agents and
 * tracers subscribe:
 *
 * - `tickless:event`: each event, as its listeners get it;
 * - `tickless:load`, a `TracingChannel` (`tracing:tickless:load:start`, `end`, `asyncStart`, `asyncEnd`, `error`): each call of
 *   a load, as a {@link LoadMessage}. Stores that are bound to `start` hold during the call. Values are not published.
 *
 * While a channel has no subscriber nothing is made or published for it. A subscriber or a transform of a bound store that throws changes
 * no read or load; Node reports its error as an `uncaughtException`.
 *
 * ```ts
 * import { subscribe } from 'node:diagnostics_channel';
 * import { RefreshGroup } from 'tickless';
 * import { publishDiagnostics } from 'tickless/diagnostics';
 *
 * const group = new RefreshGroup();
 * const stop = publishDiagnostics(group);
 * subscribe('tracing:tickless:load:start', (message) => console.log((message as { name: string }).name));
 * group.value({ name: 'rates', load: () => 1.08 }).current; // prints: rates
 * stop();
 * ```
 *
 * @returns the function that ends it. A group ends it when it is closed.
 * @throws {TicklessError} `OPTION` when `source` is not a group, value, cache or executor of this copy of tickless.
 */
export function publishDiagnostics<T>(source: Observed<T>): () => void {
  const events = channel(EVENTS);
  const loads = tracingChannel<'unsubscribed', LoadMessage>(LOADS);
  const areLoadsWanted = (): boolean => PHASES.some((phase) => loads[phase].hasSubscribers);
  const instrument: Instrument = {
    get isWanted(): boolean {
      return events.hasSubscribers || areLoadsWanted();
    },
    event: (event) => {
      if (events.hasSubscribers) events.publish(event);
    },
    begin: (name, details) => (areLoadsWanted() ? new PublishedLoad(loads, name, details) : undefined),
  };
  return instrumented(source, instrument);
}

type Loads = ReturnType<typeof tracingChannel<'unsubscribed', LoadMessage>>;

class PublishedLoad implements ExecutionTrace {
  readonly #loads: Loads;
  readonly #details: Omit<LoadMessage, 'attempt'>;

  constructor(loads: Loads, name: string, details: ExecutionStart) {
    this.#loads = loads;
    this.#details = { name, ...details };
  }

  /** As `traceSync` and `tracePromise` do it: which of them is right is known when the load has returned. */
  call<R>(attempt: number, load: () => R): R {
    const { start, end, asyncStart, asyncEnd, error } = this.#loads;
    const message: LoadMessage = { ...this.#details, attempt };
    const failed = (thrown: unknown): never => {
      message.error = thrown;
      error.publish(message);
      throw thrown;
    };
    const settled = (): void => {
      asyncStart.publish(message);
      asyncEnd.publish(message);
    };
    return start.runStores(message, () => {
      let result: R;
      try {
        result = load();
      } catch (thrown) {
        return failed(thrown);
      } finally {
        end.publish(message);
      }
      if (!isThenable(result)) return result;
      return Promise.resolve(result).then(
        (value) => {
          settled();
          return value;
        },
        (thrown) => {
          try {
            return failed(thrown);
          } finally {
            settled();
          }
        },
      ) as R;
    });
  }
}
