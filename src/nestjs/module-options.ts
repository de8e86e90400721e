import type { ConfigurableModuleAsyncOptions } from '@nestjs/common';
import type { DurationLike, GroupOptions, RefreshGroup } from '../index.ts';
import type { LockedMethodOptions } from './decorators.ts';

/** How all jobs of `@nestjs/schedule` are locked. */
export interface LockedJobsOptions extends Omit<LockedMethodOptions, 'name' | 'lockAtLeastFor'> {
  /**
   * No other instance runs the same job before this time has passed. Required: it should be longer than the clocks of the
   * instances differ, and shorter than the time between two runs of any job; for `@Interval`, whose rounds begin with each
   * process, almost as long as that.
   */
  readonly lockAtLeastFor: DurationLike;
}

/**
 * The options of `TicklessModule`: those of the `RefreshGroup` of the application, which are the defaults of its members, and a
 * few of the module. None is required.
 */
export interface TicklessModuleOptions extends GroupOptions {
  /** How long the shutdown waits for running loads and tasks before it aborts them. @default 10 seconds */
  readonly closeTimeout?: DurationLike | undefined;
  /**
   * Makes the console: `(group) => nodeConsole(group, { authorize })` of `tickless/console/node`. It is mounted on the HTTP
   * server, Express or Fastify, at its own `path`, behind what `app.use()` has before it. Guards of NestJS do not
   * concern it: `authorize` decides. @default none
   */
  readonly console?: ((group: RefreshGroup) => MountedConsole) | undefined;
  /**
   * Locks each method with `@Cron`, `@Interval` or `@Timeout` of `@nestjs/schedule` that has no `@Locked` of its own, as if it
   * had one with these options: on each round one instance runs it. A job that is added to the `SchedulerRegistry` by hand
   * calls a method with `@Locked`: the registry gets a timer that has its function already. @default none is locked
   */
  readonly lockedScheduler?: LockedJobsOptions | undefined;
}

/** The used part of `NodeConsole`. */
export type MountedConsole = ((request: never, response: never, next: never) => void) & {
  close(): Promise<void>;
};

/** A provider that has the options of `TicklessModule`, for `useClass` and `useExisting` of `forRootAsync`. */
export interface TicklessModuleOptionsFactory {
  /** Returns the options, or a promise of them. Called once, when the application starts. */
  create(): TicklessModuleOptions | Promise<TicklessModuleOptions>;
}

/**
 * The argument of `TicklessModule.forRootAsync`, as of each configurable module of NestJS: `useFactory` with `inject`; or
 * `useClass`, a {@link TicklessModuleOptionsFactory} that is made; or `useExisting`, one that is there. `imports` are the modules
 * whose providers these need.
 */
export type TicklessModuleAsyncOptions = ConfigurableModuleAsyncOptions<TicklessModuleOptions>;
