import { parseJson } from '../../bounded-json.ts';
import { answerTimeoutMs, timeoutSignal } from '../../cluster/time-limits.ts';
import { OptionChecks } from '../../option-checks.ts';
import type { Answer, Edit, Records } from '../../records/records.ts';
import { RETENTION } from '../../records/records-kind.ts';
import type { DurationLike } from '../../time/duration.ts';
import { unlessAborted } from '../../time/on-abort.ts';
import type { DurableObjectOptions, ObjectNamespace } from './object-namespace.ts';
import { encodeStep, MOST_EDITS, type ObjectStep, type Outcome, resultOf } from './steps.ts';

/** Where requests to an object go: only the object sees it. */
const URL = 'https://tickless/';

/** The options of its backend. */
export interface ClientOptions extends DurableObjectOptions {
  readonly timeout?: DurationLike | undefined;
  readonly retention?: DurationLike | undefined;
}

/**
 * The records of an object: each call is one request to it. Each has a stub of its own: in workerd a stub belongs to the
 * request that has made it, and is broken by the first error. Edits that are sent again, as their answer was lost, have the
 * same result.
 */
export class ObjectRecords implements Records {
  readonly mostEdits: number = MOST_EDITS;
  readonly sharesCommands: boolean = true;
  readonly #binding: ObjectNamespace;
  readonly #object: string;
  readonly #retentionMs: number;
  readonly #timeoutMs: number;

  /** @throws {TicklessError} `OPTION` when one of these options breaks a rule. */
  constructor(options: ClientOptions) {
    const { binding, object = 'tickless', retention = RETENTION } = options ?? {};
    const checks = new OptionChecks('backend');
    checks.methods('binding', binding, ['idFromName', 'get']);
    checks.name('object', object);
    this.#retentionMs = checks.duration('retention', retention);
    checks.done();
    this.#binding = binding;
    this.#object = object;
    this.#timeoutMs = answerTimeoutMs(options.timeout);
  }

  async apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const { now, answers } = await this.#ask<{ now: number; answers: readonly Outcome[] }>('apply', edits);
    return { now, answers: answers.map((outcome) => resultOf<Answer>(outcome)) };
  }

  list(...args: Parameters<Records['list']>): ReturnType<Records['list']> {
    return this.#ask('list', ...args);
  }

  editions(...args: Parameters<Records['editions']>): ReturnType<Records['editions']> {
    return this.#ask('editions', ...args);
  }

  /** @throws the error of the step, or any error of the binding; at the latest at the deadline of a command. */
  async #ask<R>(step: ObjectStep['step'], ...args: readonly unknown[]): Promise<R> {
    const body = encodeStep({ step, args, retentionMs: this.#retentionMs });
    const stub = this.#binding.get(this.#binding.idFromName(this.#object));
    const signal = timeoutSignal(this.#timeoutMs);
    const response = await unlessAborted(stub.fetch(URL, { method: 'POST', body, signal }), signal);
    const result = resultOf<R>(outcomeIn(response.status, await unlessAborted(response.text(), signal)));
    if (result instanceof Error) throw result;
    return result;
  }
}

/** @throws for an answer that is not one of a `TicklessObject`. */
function outcomeIn(status: number, text: string): Outcome {
  if (status === 200) {
    try {
      return parseJson(text) as Outcome;
    } catch {
      // of another class
    }
  }
  const beginning = text.slice(0, 100);
  throw new Error(
    `the object has answered with status ${status} (${beginning}): does the binding name the class TicklessObject of tickless/durable-object?`,
  );
}
