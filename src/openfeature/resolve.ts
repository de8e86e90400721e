import type { Edition } from './edition.ts';
import type { Resolution } from './flag.ts';
import {
  ErrorCode,
  type EvaluationContext,
  type FlagMetadata,
  type FlagValue,
  type FlagValueType,
  type Logger,
  Reason,
  type ResolutionDetails,
} from './sdk.ts';

/** The arguments of an evaluation. */
export interface Asked<T extends FlagValue> {
  readonly name: string;
  readonly type: FlagValueType;
  readonly defaultValue: T;
  readonly context: EvaluationContext;
  readonly logger: Logger;
}

/** The result of a flag of that edition, in the type that was asked for. @param isStale the edition may be out of date. */
export function resolve<T extends FlagValue>(
  edition: Edition,
  asked: Asked<T>,
  isStale: boolean,
): ResolutionDetails<T> {
  const { name, type, context, logger } = asked;
  const flag = edition.flags.get(name);
  if (flag === undefined) return failed(asked, ErrorCode.FLAG_NOT_FOUND, `flag '${name}' not found`);
  const resolution = flag.evaluate(context, logger);
  const { value, errorCode, errorMessage = '', flagMetadata } = resolution;
  if (errorCode !== undefined) return failed(asked, errorCode as ErrorCode, errorMessage, flagMetadata);
  if (value === undefined) return { ...(resolution as ResolutionDetails<T>), value: asked.defaultValue };
  if (typeof value !== type) {
    const message = `flag '${name}' is a ${typeof value}, not a ${type}`;
    return failed(asked, ErrorCode.TYPE_MISMATCH, message, flagMetadata);
  }
  const details = { ...(resolution as ResolutionDetails<T>) };
  if (isStale) details.reason = Reason.STALE;
  return details;
}

/** The default of the caller, for that error. */
export function failed<T extends FlagValue>(
  { defaultValue }: Pick<Asked<T>, 'defaultValue'>,
  errorCode: ErrorCode,
  errorMessage: string,
  flagMetadata: Resolution['flagMetadata'] = {},
): ResolutionDetails<T> {
  return {
    value: defaultValue,
    reason: Reason.ERROR,
    errorCode,
    errorMessage,
    flagMetadata: flagMetadata as FlagMetadata,
  };
}
