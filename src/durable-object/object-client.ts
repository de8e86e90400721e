import { answerTimeoutMs, timeoutSignal } from '../cluster/time-limits.ts';
import { OptionChecks } from '../option-checks.ts';
import type { DurationLike } from '../time/duration.ts';
import { unlessAborted } from '../time/on-abort.ts';
import type { DurableObjectOptions, ObjectNamespace } from './object-namespace.ts';
import { encodeStep, type ObjectSettings, type Outcome, resultOf } from './steps.ts';

/** Where requests to an object go: only the object sees it. */
const URL = 'https://tickless/';

/** The options of a lock and a store. */
export interface ClientOptions extends DurableObjectOptions {
  readonly timeout?: DurationLike | undefined;
  readonly retention?: DurationLike | undefined;
  readonly keepVersions?: number | undefined;
}

/**
 * Sends the steps of a lock or a store to its object. Each step has a stub of its own: in workerd a stub belongs to the
 * request that has made it, and is broken by the first error.
 */
export class ObjectClient {
  readonly #about: 'lock' | 'store';
  readonly #binding: ObjectNamespace;
  readonly #object: string;
  readonly #settings: ObjectSettings;
  readonly #timeoutMs: number;

  /**
   * @param about the subject of errors.
   * @throws {OptionError} when one of these options breaks a rule.
   */
  constructor(about: 'lock' | 'store', options: ClientOptions) {
    const { binding, object = 'tickless', retention = { days: 7 }, keepVersions = 1 } = options ?? {};
    const checks = new OptionChecks(about);
    checks.methods('binding', binding, ['idFromName', 'get']);
    checks.name('object', object);
    const retentionMs = checks.duration('retention', retention);
    checks.done();
    this.#about = about;
    this.#binding = binding;
    this.#object = object;
    this.#settings = { retentionMs, keepVersions };
    this.#timeoutMs = answerTimeoutMs(options.timeout);
  }

  /**
   * Takes a step: one request. A step that is repeated, as its answer was lost, has the same result.
   *
   * @throws the error of the step, or any error of the binding; at the latest at the deadline of a command.
   */
  async ask<R>(step: string, ...args: readonly unknown[]): Promise<R> {
    const request = { about: this.#about, step, args, settings: this.#settings };
    const stub = this.#binding.get(this.#binding.idFromName(this.#object));
    const signal = timeoutSignal(this.#timeoutMs);
    const sent = stub.fetch(URL, { method: 'POST', body: encodeStep(request), signal });
    const response = await unlessAborted(sent, signal);
    const result = resultOf<R>(outcomeIn(response.status, await unlessAborted(response.text(), signal)));
    if (result instanceof Error) throw result;
    return result;
  }

  /** A step for several names. @returns the answer or the error of each. */
  async askMany<A>(step: string, ...args: readonly unknown[]): Promise<(A | Error)[]> {
    return (await this.ask<Outcome[]>(step, ...args)).map((outcome) => resultOf<A>(outcome));
  }
}

/** @throws for an answer that is not one of a `TicklessObject`. */
function outcomeIn(status: number, text: string): Outcome {
  if (status === 200) {
    try {
      return JSON.parse(text) as Outcome;
    } catch {
      // of another class
    }
  }
  const beginning = text.slice(0, 100);
  throw new Error(
    `the object has answered with status ${status} (${beginning}): does the binding name the class TicklessObject of tickless/durable-object?`,
  );
}
