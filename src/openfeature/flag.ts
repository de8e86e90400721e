import { isPlainObject } from '../plain-object.ts';
import { ErrorCode, type EvaluationContext, type JsonValue, type Logger, Reason } from './sdk.ts';

/** The result of a flag, whatever type was asked for. Without a `value` it is that of the caller. */
export interface Resolution {
  readonly value?: JsonValue | undefined;
  readonly variant?: string | undefined;
  readonly reason?: string | undefined;
  /** One of `ErrorCode`. As a text: a library of rules may have an enum of its own. */
  readonly errorCode?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly flagMetadata?: Readonly<Record<string, string | number | boolean>> | undefined;
}

/** A flag of an edition. */
export interface Flag {
  /** All that its results follow from, for comparison with that of another edition. */
  readonly definition: unknown;
  /** The parts of rules with a name that its rule may refer to: the same object for all flags of an edition. */
  readonly parts?: unknown;
  /** The fault of its definition. Not present: it is sound. */
  readonly problem?: string;
  readonly evaluate: (context: EvaluationContext, logger: Logger) => Resolution;
}

/** A flag with the same result for everyone. */
export function constant(definition: unknown, resolution: Resolution): Flag {
  return { definition, evaluate: () => resolution };
}

/** A flag whose definition is of no use: evaluations get the default of the caller, and the problem. */
export function faulty(definition: unknown, problem: string): Flag {
  const errorCode = ErrorCode.PARSE_ERROR;
  const resolution = { reason: Reason.ERROR, errorCode, errorMessage: problem };
  return { ...constant(definition, resolution), problem };
}

export const FLAG_VALUE_RULE = 'a boolean, a string, a finite number, an object or an array';

/** A value that a flag may have: of JSON, but not `null`. Parts of objects are not looked at. */
export function isFlagValue(value: unknown): value is JsonValue {
  return (
    typeof value === 'boolean' ||
    typeof value === 'string' ||
    Number.isFinite(value) ||
    Array.isArray(value) ||
    isPlainObject(value)
  );
}
