// tickless/openfeature: a provider of feature flags for the OpenFeature SDK for servers.

export type { FlagDefinitions, FlagdFlags, PlainFlags } from './definitions.ts';
export { type FlagsSchemaOptions, flagsSchema } from './flags-schema.ts';
export type { FlagdEvaluator } from './targeting.ts';
export { type FlagsValue, type TicklessProviderOptions, ticklessProvider } from './tickless-provider.ts';
