import { ExpiryAlarm } from '../durable-object/expiry-alarm.ts';
import { ObjectRecords } from '../durable-object/object-records.ts';
import type { ObjectState, ObjectStorage } from '../durable-object/object-state.ts';
import { decodeStep, type ObjectStep, outcomeOf } from '../durable-object/steps.ts';
import { ObjectLock } from './object-lock.ts';
import { ObjectStore } from './object-store.ts';

/** The steps, and whether each has one answer or one for each of several names. */
const STEPS: Readonly<Record<ObjectStep['about'], ReadonlyMap<string, 'one' | 'each'>>> = {
  lock: new Map([
    ...one('acquire', 'extend', 'release', 'find', 'list', 'forceRelease'),
    ...each('acquireMany', 'releaseMany', 'extendMany'),
  ]),
  store: new Map([
    ...one('read', 'write', 'delete', 'history', 'versions', 'reports'),
    ...each('readMany', 'writeMany'),
  ]),
};

function one(...steps: (keyof ObjectLock | keyof ObjectStore)[]): [string, 'one'][] {
  return steps.map((step) => [step, 'one']);
}

function each(...steps: (keyof ObjectLock | keyof ObjectStore)[]): [string, 'each'][] {
  return steps.map((step) => [step, 'each']);
}

/**
 * The Durable Object that `durableObjectLock` and `durableObjectStore` of `tickless/lock/durable-object` and
 * `tickless/store/durable-object` send their steps to. It takes each step by its own clock, in one request. Export it from
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

  /** Takes a step of a lock or a store. Never rejects: the answer carries the error. */
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
    const records = this.#open(() => {});
    await this.#alarm.wentOff(records.deleteExpired());
  }

  async #take(step: ObjectStep): Promise<unknown> {
    let expiresAt = Infinity;
    const records = this.#open((at) => {
      expiresAt = Math.min(expiresAt, at);
    });
    try {
      return await answerOf(step, records);
    } finally {
      await this.#alarm.setBy(expiresAt); // a step that has failed may have written too
    }
  }

  #open(expires: (at: number) => void): ObjectRecords {
    return new ObjectRecords(this.#storage.sql, expires);
  }
}

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

async function answerOf(
  { about, step, args, settings }: ObjectStep,
  records: ObjectRecords,
): Promise<unknown> {
  const kind = STEPS[about]?.get(step);
  if (kind === undefined)
    throw new Error(`TicklessObject of this Worker has no step ${about}.${step}: ${ADVICE}`);
  const { retentionMs, keepVersions } = settings;
  const backend =
    about === 'lock'
      ? new ObjectLock(records, retentionMs)
      : new ObjectStore(records, retentionMs, keepVersions);
  const answer = await (backend as unknown as Methods)[step]?.(...args);
  return kind === 'one' ? answer : (answer as unknown[]).map(outcomeOf);
}

const ADVICE = 'deploy the Worker that exports the class with the same version of tickless';
