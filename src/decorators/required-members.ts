import { alike } from './decorate.ts';
import { makeAllRequired } from './per-instance.ts';

/** Any class. */
type AnyClass = abstract new (...args: never[]) => object;

/**
 * Decorates a class whose `@refreshing` members are `required`, with `experimentalDecorators`: they are made at the end of its
 * constructor, so that `ready()` of their group waits for them. Decorators of methods do not learn of instances there. By the
 * standard they do, and this one changes nothing.
 *
 * ```ts ignore
 * @requiredMembers
 * class Rates {
 *   @refreshing({ group, required: true })
 *   get all(): Promise<Rate[]> {
 *     return fetchRates();
 *   }
 * }
 * ```
 *
 * The class is replaced by one that extends it, of the same name and with its metadata.
 */
export function requiredMembers<C extends AnyClass>(decorated: C, context?: unknown): C {
  if (typeof decorated !== 'function')
    throw new TypeError('@requiredMembers must decorate a class, without options');
  if (context !== undefined) return decorated;
  const Base = decorated as unknown as new (...args: unknown[]) => object;
  class WithRequiredMembers extends Base {
    constructor(...args: unknown[]) {
      super(...args);
      makeAllRequired(this, Base.prototype as object);
    }
  }
  const replacement = alike<AnyClass>(WithRequiredMembers, decorated);
  makeAllRequired(replacement, replacement);
  return replacement as C;
}
