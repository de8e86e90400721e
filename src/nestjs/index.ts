// A module of NestJS.

export { Locked, type LockedMethodOptions, Refreshing, type RefreshingMethodOptions } from './decorators.ts';
export { TicklessHealthIndicator } from './health-indicator.ts';
export {
  type ProvidedCacheOptions,
  type ProvidedValueOptions,
  provideCache,
  provideValue,
} from './provide.ts';
export type {
  LockedJobsOptions,
  TicklessModuleAsyncOptions,
  TicklessModuleOptions,
  TicklessModuleOptionsFactory,
} from './tickless-module.ts';
export { TicklessModule } from './tickless-module.ts';
