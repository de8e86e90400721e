import type { Entry } from '../engine/entry.ts';
import { isAnswer } from '../engine/load-result.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { schemaArgument } from '../guard/guarded-load.ts';
import { ignoreThenable, isThenable } from '../time/deferred.ts';

/** A value that is there before the first load: a data file that is shipped with the service. */
export interface InitialValue<T> {
  readonly value: T;
  /** When it was true: epoch milliseconds or a `Date`. In the future: now. */
  readonly loadedAt: number | Date;
}

/** The option `initial`. */
export type Initial<T> = InitialValue<T> | (() => InitialValue<T> | undefined);

/** The rule for {@link InitialValue}. */
export const INITIAL_RULE = 'must be { value, loadedAt }, with epoch milliseconds or a Date';

export function isInitialValue(given: Partial<InitialValue<unknown>> | null | undefined): boolean {
  const { value, loadedAt } = given ?? {};
  const isInstant = typeof loadedAt === 'number' || loadedAt instanceof Date;
  const isValue = value !== undefined && !isThenable(ignoreThenable(value)) && !isAnswer(value);
  return isInstant && Number.isFinite(Number(loadedAt)) && isValue;
}

/** Puts the initial value into place at the first use of the entry, if it has none until then. It is due at once. */
export function prepareInitial<T>(engine: MemberEngine<T>, entry: Entry<T>, given: Initial<T>): void {
  const { options } = engine;
  engine.initial = () => {
    engine.initial = undefined; // before the function is called, which may read the value
    if (entry.isLoaded) return;
    try {
      const initial = typeof given === 'function' ? ignoreThenable(given()) : given;
      if (initial === undefined) return;
      if (!isInitialValue(initial)) throw new TypeError(INITIAL_RULE);
      const value = schemaArgument(options, undefined, initial.value);
      if (!entry.isLoaded) putInitial(engine, entry, value, Number(initial.loadedAt));
    } catch (error) {
      options.logger.error('initial failed, ignored', error);
    }
  };
}

/** With its age, before any load. A load under way goes on. */
function putInitial<T>(engine: MemberEngine<T>, entry: Entry<T>, value: T, loadedAt: number): void {
  const { options, changes, timing, coordinator } = engine;
  changes.note(entry, value, 'restored', undefined);
  entry.putValue(value, true);
  if (options.membership?.hasStore) coordinator?.replaced(entry);
  timing.restored(entry, Math.max(0, options.clock.now() - loadedAt), options.now(), undefined);
  engine.inPlace(entry);
}
