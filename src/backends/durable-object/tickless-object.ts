import { KnownClock } from '../../records/cells/known-clock.ts';
import { SwappedRecords } from '../../records/cells/swapped-records.ts';
import { TextCells } from '../cas/text-cells.ts';
import { ExpiryAlarm } from './expiry-alarm.ts';
import type { ObjectState, ObjectStorage } from './object-state.ts';
import { ObjectTexts } from './object-texts.ts';
import { answerOf, decodeStep, type ObjectStep, outcomeOf } from './steps.ts';

/**
 * The Durable Object that `durableObjectBackend` sends its steps to. It takes each step by its own clock, in one request. Export it from
 * the Worker, and name it in `new_sqlite_classes` of a migration: it needs SQLite storage.
 *
 * ```ts no-run
 * export { TicklessObject } from 'tickless/durable-object';
 * ```
 *
 * It is a plain class with `fetch` and `alarm`, not one that extends `DurableObject` of `cloudflare:workers`: so it works with
 * every compatibility date, and the module can be imported outside of workerd. Nothing runs between two requests. Records that
 * have expired are deleted by the alarm of the object: when the first one expires, and at most once in ten minutes.
 *
 * The records are in the table `tickless` of the object. Only Workers with a binding of the class reach it.
 */
export class TicklessObject {
  readonly #storage: ObjectStorage;
  readonly #alarm: ExpiryAlarm;

  /** Called by the runtime. */
  constructor(state: ObjectState) {
    this.#storage = state.storage;
    this.#alarm = new ExpiryAlarm(state.storage);
  }

  /** Takes a command of a backend. Never rejects: the answer carries the error. */
  async fetch(request: Request): Promise<Response> {
    if (request.method !== 'POST') return new Response('only locks and stores of tickless', { status: 405 });
    try {
      return Response.json({ answer: await this.#take(decodeStep(await request.text())) });
    } catch (thrown) {
      return Response.json(outcomeOf(thrown instanceof Error ? thrown : new Error(String(thrown))));
    }
  }

  /** Deletes the records that have expired. Called by the runtime. */
  async alarm(): Promise<void> {
    const texts = this.#open(() => {});
    await this.#alarm.wentOff(texts.deleteExpired());
  }

  async #take(step: ObjectStep): Promise<unknown> {
    let expiresAt = Infinity;
    const texts = this.#open((at) => {
      expiresAt = Math.min(expiresAt, at);
    });
    try {
      const records = new SwappedRecords(new TextCells(texts), step.retentionMs, clockOf(texts));
      return await answerOf(records, step);
    } finally {
      await this.#alarm.setBy(expiresAt); // a step that has failed may have written too
    }
  }

  #open(expires: (at: number) => void): ObjectTexts {
    return new ObjectTexts(this.#storage.sql, expires);
  }
}

/** It is known before the first answer, so no look comes first. */
function clockOf(texts: ObjectTexts): KnownClock {
  const clock = new KnownClock(() => texts.span().earliest, true);
  clock.learnTime(texts.span(), clock.now());
  return clock;
}
