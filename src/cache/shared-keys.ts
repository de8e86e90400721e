import type { KeyMark, KeysMark } from '../data/mark.ts';
import type { Entry } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { closedError } from '../engine/read-errors.ts';
import { isTicklessError } from '../errors.ts';
import { rejected } from '../time/deferred.ts';

/** Publishes a mark on keys, which was applied here, if that is asked for. */
export function markIf<V>(isForAll: boolean, engine: MemberEngine<V>, mark: KeysMark): Promise<void> {
  if (!isForAll) return Promise.resolve();
  if (engine.runState === 'closed') return rejected(closedError(engine.options.name));
  return engine.untilClosed(engine.coordinator?.markKeys(mark) ?? Promise.resolve());
}

/** Lets the other instances know of the change of a key, once it is published. */
export function thenMarked<V, R>(
  engine: MemberEngine<V>,
  entry: Entry<V>,
  published: Promise<R>,
  mark: KeyMark['mark'],
): Promise<R> {
  const marked = published.then(
    async (result) => {
      await engine.coordinator?.markKey(entry, mark);
      return result;
    },
    async (error) => {
      if (isTicklessError(error, 'ABSENT')) {
        await entry.cluster?.published; // the others are to know that the key is gone
        await engine.coordinator?.markKey(entry, mark);
      }
      throw error;
    },
  );
  return engine.untilClosed(marked);
}
