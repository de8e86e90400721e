import { showKey } from '../errors.ts';
import { isPlainObject } from '../plain-object.ts';
import type { FlagdFlag } from './definitions.ts';
import { constant, FLAG_VALUE_RULE, type Flag, faulty, isFlagValue } from './flag.ts';
import { plainFlag } from './plain-flag.ts';
import { type FlagMetadata, Reason } from './sdk.ts';
import { type MakeEvaluator, targetedFlags } from './targeting.ts';

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

/** The flags of flagd's format. @param whole the file, with what is for all of them. @param flags each with its definition. */
function flagdFlags(
  whole: Readonly<Record<string, unknown>>,
  flags: Readonly<Record<string, unknown>>,
  targeting: MakeEvaluator | undefined,
): ReadonlyMap<string, Flag> {
  const { $evaluators, metadata = {} } = whole;
  const found: Map<string, Flag> = new Map();
  const targeted: Map<string, FlagdFlag> = new Map();
  for (const [name, definition] of Object.entries(flags)) {
    const problem = problemOf(definition) ?? problemOfMetadata(metadata);
    if (problem !== undefined) {
      found.set(name, faulty(definition, problem));
      continue;
    }
    const flag = withMetadata(definition as FlagdFlag, metadata as FlagMetadata);
    const isTargeted = flag.state === 'ENABLED' && Object.keys(flag.targeting ?? {}).length > 0;
    if (isTargeted) targeted.set(name, flag);
    else found.set(name, constant(flag, fixedResolution(flag)));
  }
  for (const [name, flag] of targetedFlags(targeted, $evaluators, targeting)) found.set(name, flag);
  return found;
}

/** The result of a flag without a rule, or with one that is not asked. */
function fixedResolution(flag: FlagdFlag): ReturnType<Flag['evaluate']> {
  const { state, variants, defaultVariant: variant, metadata: flagMetadata } = flag;
  if (state === 'DISABLED') return { reason: Reason.DISABLED, flagMetadata };
  if (variant === undefined || variant === null) return { reason: Reason.DEFAULT, flagMetadata };
  return { value: variants[variant], variant, reason: Reason.STATIC, flagMetadata };
}

/** A copy: the SDK freezes the metadata of results. */
function withMetadata(flag: FlagdFlag, ofAll: FlagMetadata): FlagdFlag {
  return { ...flag, metadata: { ...ofAll, ...flag.metadata } };
}

/** The first rule of the format that a definition breaks. */
function problemOf(flag: unknown): string | undefined {
  if (!isPlainObject(flag)) return `must be an object, not ${showKey(flag)}`;
  const { state, variants, defaultVariant, targeting, metadata } = flag;
  if (state !== 'ENABLED' && state !== 'DISABLED')
    return `state must be 'ENABLED' or 'DISABLED', not ${showKey(state)}`;
  if (!isPlainObject(variants)) return 'variants must be an object';
  for (const [name, value] of Object.entries(variants)) {
    if (!isFlagValue(value))
      return `variant ${showKey(name)} must be ${FLAG_VALUE_RULE}, not ${showKey(value)}`;
  }
  const types = new Set(Object.values(variants).map((value) => typeof value));
  if (types.size > 1) return `all variants must have one type, not ${[...types].join(' and ')}`;
  const hasDefault = defaultVariant !== undefined && defaultVariant !== null;
  if (hasDefault && !(typeof defaultVariant === 'string' && Object.hasOwn(variants, defaultVariant)))
    return `defaultVariant ${showKey(defaultVariant)} is not one of the variants`;
  if (targeting !== undefined && !isPlainObject(targeting)) return 'targeting must be an object';
  return problemOfMetadata(metadata);
}

function problemOfMetadata(metadata: unknown): string | undefined {
  if (metadata === undefined) return undefined;
  const isMetadata =
    isPlainObject(metadata) &&
    Object.values(metadata).every((value) => ['string', 'number', 'boolean'].includes(typeof value));
  return isMetadata ? undefined : 'metadata must be an object of strings, numbers and booleans';
}
