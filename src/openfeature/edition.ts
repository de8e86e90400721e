import { showKey } from '../errors.ts';
import { isPlainObject } from '../plain-object.ts';
import type { Flag } from './flag.ts';
import { flagdFlags } from './flagd-flags.ts';
import { plainFlag } from './plain-flag.ts';
import type { MakeEvaluator } from './targeting.ts';

/** One edition of the definitions, ready to be evaluated. */
export interface Edition {
  /** Also those that are faulty: their evaluation is an error. */
  readonly flags: ReadonlyMap<string, Flag>;
  /** The faults of the definitions, each with the name of its flag. */
  readonly problems: readonly string[];
}

/** Never throws. @param targeting evaluates rules; `undefined`: flags with rules are faulty. */
export function editionOf(definitions: unknown, targeting: MakeEvaluator | undefined): Edition {
  if (!isPlainObject(definitions)) {
    return { flags: new Map(), problems: [`the definitions must be an object, not ${showKey(definitions)}`] };
  }
  const { flags } = definitions;
  const isFlagd = typeof flags === 'object' && flags !== null;
  if (!isFlagd) {
    return edition(new Map(Object.entries(definitions).map(([name, value]) => [name, plainFlag(value)])));
  }
  if (!isPlainObject(flags)) return { flags: new Map(), problems: ['flags must be an object'] };
  return edition(flagdFlags(definitions, flags, targeting));
}

function edition(flags: ReadonlyMap<string, Flag>): Edition {
  const problems = [...flags].flatMap(([name, { problem }]) =>
    problem === undefined ? [] : [`flag ${showKey(name)}: ${problem}`],
  );
  return { flags, problems };
}

/** The names of the flags that were added, removed or evaluate otherwise. */
export function changedFlags(
  before: Edition | undefined,
  after: Edition,
  areEqual: (one: unknown, other: unknown) => boolean,
): string[] {
  const names = new Set([...(before?.flags.keys() ?? []), ...after.flags.keys()]);
  let compared: readonly [unknown, unknown, boolean] | undefined;
  const haveEqualParts = ({ parts: a }: Flag, { parts: b }: Flag): boolean => {
    if (compared === undefined || compared[0] !== a || compared[1] !== b) compared = [a, b, areEqual(a, b)];
    return compared[2];
  };
  return [...names].filter((name) => {
    const [one, other] = [before?.flags.get(name), after.flags.get(name)];
    if (one === undefined || other === undefined) return true;
    return !areEqual(one.definition, other.definition) || !haveEqualParts(one, other);
  });
}
