import { messageOf } from '../observe/logger.ts';
import type { OptionChecks } from '../option-checks.ts';
import type { FlagdFlag } from './definitions.ts';
import { type Flag, faulty, type Resolution } from './flag.ts';
import { References } from './references.ts';
import { ErrorCode, type EvaluationContext, type Logger } from './sdk.ts';

/** The used part of `FlagdCore` of the package `@openfeature/flagd-core`, which evaluates rules as flagd does. */
export interface FlagdEvaluator {
  /** @param json in flagd's format. */
  setConfigurations(json: string): unknown;
  getFlag(name: string): Rule | undefined;
}

/** A flag of an evaluator. */
interface Rule {
  evaluate(context: EvaluationContext, logger?: Logger): Resolution;
}

/** A new {@link FlagdEvaluator}, which gets one edition of the flags. */
export type MakeEvaluator = () => FlagdEvaluator;

/** The options that say how rules are evaluated. */
export interface TargetingOptions {
  /**
   * Evaluates `targeting`, the rules of flagd's format: `() => new FlagdCore()`, with `FlagdCore` of `@openfeature/flagd-core`.
   * Called once for each edition of the flags that has rules, and once to check the option.
   * @default undefined: a flag with rules is faulty
   */
  readonly targeting?: MakeEvaluator | undefined;
}

export function checkTargeting(targeting: MakeEvaluator | undefined, checks: OptionChecks): void {
  if (targeting === undefined) return;
  const rule = 'must be a function that returns a FlagdCore: () => new FlagdCore()';
  checks.that(isMakeEvaluator(targeting), 'targeting', rule, targeting);
}

/** A class is none: it can't be called without `new`. */
function isMakeEvaluator(given: unknown): boolean {
  try {
    const { setConfigurations, getFlag } = (given as MakeEvaluator)();
    return typeof setConfigurations === 'function' && typeof getFlag === 'function';
  } catch {
    return false;
  }
}

const WITHOUT_EVALUATOR =
  'has targeting, which is evaluated by @openfeature/flagd-core: give flagsSchema and ticklessProvider the option targeting: () => new FlagdCore()';

/** @param flags those with rules, whose definitions are sound otherwise. @param $evaluators the parts of rules with a name. */
export function targetedFlags(
  flags: ReadonlyMap<string, FlagdFlag>,
  $evaluators: unknown,
  make: MakeEvaluator | undefined,
): Iterable<[string, Flag]> {
  if (flags.size === 0) return [];
  const whole = wholeRules(flags, $evaluators);
  const evaluator = typeof whole === 'string' ? whole : evaluatorOf(whole, make);
  return [...flags].map(([name, flag]) => {
    if (typeof whole === 'string' || typeof evaluator === 'string')
      return [name, { ...faulty(flag, String(evaluator)), parts: $evaluators }];
    const rule = evaluator.getFlag(name);
    const refusal = refusalOf(rule);
    if (refusal !== undefined) return [name, { ...faulty(flag, refusal), parts: $evaluators }];
    const evaluate: Flag['evaluate'] = (context, logger) => (rule as Rule).evaluate(context, logger);
    return [name, { definition: flag, parts: $evaluators, evaluate }];
  });
}

/** The flags, each with all of its rule; or why a rule is refused. */
function wholeRules(
  flags: ReadonlyMap<string, FlagdFlag>,
  $evaluators: unknown,
): Readonly<Record<string, unknown>> | string {
  const references = new References($evaluators);
  try {
    return Object.fromEntries(
      [...flags].map(([name, flag]) => [name, { ...flag, targeting: references.replacedIn(flag.targeting) }]),
    );
  } catch (error) {
    return `${REFUSED}: ${messageOf(error)}`;
  }
}

/** @returns with these flags; or why there is none. */
function evaluatorOf(
  flags: Readonly<Record<string, unknown>>,
  make: MakeEvaluator | undefined,
): FlagdEvaluator | string {
  if (make === undefined) return WITHOUT_EVALUATOR;
  try {
    const evaluator = make();
    evaluator.setConfigurations(JSON.stringify({ flags }));
    return evaluator;
  } catch (error) {
    return `${REFUSED}: ${messageOf(error)}`;
  }
}

const REFUSED = 'targeting was refused';

/** An evaluator that can't read a rule reports that at each evaluation, with any context. */
function refusalOf(rule: Rule | undefined): string | undefined {
  if (rule === undefined) return REFUSED;
  try {
    const { errorCode, errorMessage = REFUSED } = rule.evaluate({});
    return errorCode === ErrorCode.PARSE_ERROR ? errorMessage : undefined;
  } catch {
    return undefined; // an empty context may be the reason: an evaluation says it
  }
}
