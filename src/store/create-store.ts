import { withDamage } from '../cluster/damage.ts';
import type {
  Codec,
  SnapshotStore,
  StandardSchema,
  StoredSnapshot,
  WriteAnswer,
} from '../cluster/store-contract.ts';
import { isOptionError, StoreUnavailableError, showKey } from '../errors.ts';
import { OptionChecks } from '../option-checks.ts';
import type { Clock } from '../time/clock.ts';
import type { DurationLike } from '../time/duration.ts';
import { withTimeout } from '../time/with-timeout.ts';

/** What the stores of all engines take. */
export interface StoreOptions {
  /**
   * How values become text or bytes, and back. @default JSON: what `JSON.stringify` takes; a `Map`, a `Set`, a `Date`
   * or a class instance would not come back as what it was, and is refused
   */
  readonly codec?: Codec | undefined;
  /**
   * Checks what comes in: a snapshot that fails it counts as absent, and is reported (event `snapshot-rejected`).
   * Any Standard Schema: zod, valibot, arktype. What it makes of the value is what readers get. @default no check
   */
  readonly schema?: StandardSchema | undefined;
  /**
   * How long the engine may take to answer, whatever its client would wait, the client's own queue included; then it
   * counts as unavailable. Over 0, finite; of what tickless asks by itself a step takes at most 15 seconds, and a
   * quarter of the deadline of a load. @default 3 seconds
   */
  readonly timeout?: DurationLike | undefined;
}

/** What an engine does for a store: as of {@link SnapshotStore}, but that it throws what its client throws. */
export type StoreEngine = Pick<SnapshotStore, 'read' | 'write' | 'delete'>;

/** What is particular to an engine. */
export interface StoreEngineKind {
  /** In bytes of UTF-8; `undefined`: names of any length. */
  readonly longestName: number | undefined;
  /** The names of the options of its factory, beside those that all have. */
  readonly options: readonly string[];
  /** What `timeout` goes by: a fake one where the engine is simulated. @default the machine's */
  readonly clock?: Pick<Clock, 'setTimeout'> | undefined;
}

/**
 * Makes a store of an engine: checks what it is asked, bounds the time of each step, and turns errors into
 * `StoreUnavailableError`.
 *
 * @throws {OptionError} when an option breaks a rule.
 */
export function createStore(
  engine: StoreEngine,
  options: StoreOptions,
  { longestName, options: names, clock }: StoreEngineKind,
): SnapshotStore {
  const checks = new OptionChecks('store');
  checks.names('', options ?? {}, [...names, 'codec', 'schema', 'timeout']);
  const { codec, schema } = options ?? {};
  if (codec !== undefined) checks.methods('codec', codec, ['encode', 'decode']);
  const isSchema = schema === undefined || typeof schema?.['~standard']?.validate === 'function';
  checks.that(isSchema, 'schema', 'must be a Standard Schema', schema);
  const timeoutMs = checks.finiteDuration('timeout', options?.timeout ?? 3000);
  checks.done();

  function check(name: string, more: (found: OptionChecks) => void = () => {}): void {
    const isText = typeof name === 'string' && name !== '';
    const found = new OptionChecks(isText ? name : 'store');
    found.that(isText, 'name', 'must be a string that is not empty', name);
    found.that(!isText || !name.includes('\0'), 'name', 'must not contain U+0000', name);
    if (longestName !== undefined && isText) {
      const isShort = new TextEncoder().encode(name).length <= longestName;
      found.that(isShort, 'name', `must be at most ${longestName} bytes long`, name);
    }
    more(found);
    found.done();
  }

  function isVersion(version: number | undefined): boolean {
    return version === undefined || Number.isSafeInteger(version);
  }

  async function ask<R>(name: string, step: () => Promise<R>): Promise<R> {
    try {
      return await withTimeout(step, timeoutMs, clock);
    } catch (cause) {
      if (isOptionError(cause)) throw cause;
      const message = cause instanceof Error ? cause.message || cause.name : String(cause);
      throw new StoreUnavailableError(`the store is unavailable: ${message}`, { cacheName: name, cause });
    }
  }

  return {
    codec,
    schema,
    longestName,
    async read(name: string, newerThan?: number): Promise<StoredSnapshot | undefined> {
      check(name, (found) => found.that(isVersion(newerThan), 'newerThan', 'must be a version', newerThan));
      const read = await ask(name, () => engine.read(name, newerThan));
      return read && withDamage(read);
    },
    async write(name: string, payload: string, token?: number): Promise<WriteAnswer> {
      check(name, (found) => {
        found.that(typeof payload === 'string', 'payload', 'must be a string', payload);
        found.that(isVersion(token), 'token', 'must be a token', token);
      });
      return ask(name, async () => sound(await engine.write(name, payload, token)));
    },
    async delete(name: string): Promise<boolean> {
      check(name);
      return ask(name, () => engine.delete(name));
    },
  };
}

/** A record that was edited by hand may hold anything. */
function sound(answer: WriteAnswer): WriteAnswer {
  if (Number.isSafeInteger(answer.version)) return answer;
  throw new TypeError(`its record holds the version ${showKey(answer.version)}, which is none`);
}
