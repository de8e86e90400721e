// The used part of the SDK of OpenFeature for servers. The one file that imports it.

export type {
  EvaluationContext,
  FlagMetadata,
  FlagValue,
  FlagValueType,
  JsonValue,
  Logger,
  Provider,
  ResolutionDetails,
} from '@openfeature/server-sdk';
export {
  ErrorCode,
  GeneralError,
  OpenFeatureEventEmitter,
  ParseError,
  ProviderEvents,
  ProviderFatalError,
  StandardResolutionReasons as Reason,
} from '@openfeature/server-sdk';
