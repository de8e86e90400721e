import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Logger,
  Module,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { locked } from '../decorators/locked.ts';
import { madeFor, makerOf } from '../decorators/per-instance.ts';
import { type DurationLike, type GroupOptions, RefreshGroup } from '../index.ts';
import { SafeLogger } from '../observe/logger.ts';
import { checked, OptionChecks, ownOptions } from '../option-checks.ts';
import { type Application, belongsTo } from './application.ts';
import { type LockedMethodOptions, lockedBy } from './decorators.ts';
import { madeOf, membersOf, singletonsOf } from './discover.ts';
import { TicklessHealthIndicator } from './health-indicator.ts';

/** The options with all that is made of them. */
interface Assembled extends Application {
  readonly closeTimeout: DurationLike | undefined;
  readonly console: MountedConsole | undefined;
  readonly lockedScheduler: LockedJobsOptions | undefined;
}

const ASSEMBLED = Symbol('tickless.assembled');

/** NestJS has the ways to options that depend on other providers. */
const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<TicklessModuleOptions>({ moduleName: 'Tickless' }).build();

/**
 * The reference data of a NestJS service. `forRoot` makes a `RefreshGroup` for the whole application, which is injected by its
 * class, and a `TicklessHealthIndicator`. Log lines go to the `Logger` of NestJS.
 *
 * ```ts ignore
 * @Module({
 *   imports: [
 *     TicklessModule.forRoot({ backend: redisBackend({ client }), schedule: '10m' }),
 *     TicklessModule.forFeature([provideValue(RATES, { load: fetchRates, required: true })]),
 *   ],
 *   providers: [Cities], // with `@Refreshing` methods
 * })
 * class AppModule {}
 * ```
 *
 * When the application starts, it makes all `@Refreshing` and `@Locked` members of providers and controllers, before any
 * `onModuleInit`; an option that breaks a rule ends the start with an `OPTION` error. When the application is closed, it ends open pages of the console in
 * `onModuleDestroy`, and drains all members and tasks in `onApplicationShutdown`, after the last request and after all
 * other providers.
 */
export class TicklessModule {
  readonly #assembled: Assembled;
  readonly #discovery: DiscoveryService;
  readonly #http: HttpAdapterHost;

  /** For NestJS only. @internal */
  constructor(
    assembled: Assembled,
    discovery: DiscoveryService,
    http: HttpAdapterHost,
    modules: ModulesContainer,
  ) {
    this.#assembled = assembled;
    this.#discovery = discovery;
    this.#http = http;
    // The hooks of global modules run in the order of `imports`. Schedulers must find methods that are locked already,
    // and others must not find a group that is closed.
    for (const module of modules.values()) if (module.metatype === TicklessModule) module.distance = Infinity;
  }

  /** The group of the application, once. */
  static forRoot(options: TicklessModuleOptions = {}): DynamicModule {
    return TicklessModule.forRootAsync({ useFactory: () => options });
  }

  /**
   * The same, with options that depend on other providers: `{ inject, useFactory }`, `{ useClass }` or `{ useExisting }`, and
   * `imports`, as of each configurable module of NestJS.
   */
  static forRootAsync(options: TicklessModuleAsyncOptions): DynamicModule {
    const { imports = [], providers = [] } = ConfigurableModuleClass.registerAsync(options);
    const indicatorOf = (group: RefreshGroup): TicklessHealthIndicator => new TicklessHealthIndicator(group);
    const own: FactoryProvider[] = [
      { provide: ASSEMBLED, inject: [MODULE_OPTIONS_TOKEN], useFactory: assemble },
      { provide: RefreshGroup, inject: [ASSEMBLED], useFactory: ({ group }: Assembled) => group },
      { provide: TicklessHealthIndicator, inject: [RefreshGroup], useFactory: indicatorOf },
    ];
    return {
      module: TicklessModule,
      global: true,
      imports: [DiscoveryModule, ...imports],
      providers: [...providers, ...own],
      exports: [RefreshGroup, TicklessHealthIndicator],
    };
  }

  /** Values and caches for the module that imports this, made by `provideValue` and `provideCache`. */
  static forFeature(providers: FactoryProvider[]): DynamicModule {
    return { module: TicklessFeatureModule, providers, exports: providers.map(({ provide }) => provide) };
  }

  /** Called by NestJS once there is an HTTP server, before the routes. @internal */
  configure(): void {
    const { console } = this.#assembled;
    if (console !== undefined) this.#http.httpAdapter.use(console);
  }

  /** @internal */
  onModuleInit(): void {
    const { lockedScheduler } = this.#assembled;
    for (const instance of singletonsOf(this.#discovery)) {
      const members = membersOf(instance);
      belongsTo(this.#assembled, instance);
      for (const [name, member] of members) {
        const isJob = lockedScheduler !== undefined && isUnlockedJob(member);
        if (isJob) lockJob(instance, name, member, lockedScheduler);
        const decorator = isJob ? 'locked' : makerOf(member)?.decorator;
        if (decorator !== undefined) madeFor(decorator, instance, name);
      }
    }
  }

  /** @internal */
  async onModuleDestroy(): Promise<void> {
    const { console, logger } = this.#assembled;
    try {
      await console?.close(); // a page that is open keeps its connection
    } catch (error) {
      // NestJS 11 would end the shutdown here, and never close the group.
      new SafeLogger('TicklessModule', logger).error('the console could not be closed', error);
    }
  }

  /** @internal */
  async onApplicationShutdown(): Promise<void> {
    const { group, closeTimeout: timeout } = this.#assembled;
    const made = [...singletonsOf(this.#discovery)].flatMap(madeOf);
    await Promise.all([group, ...made].map((one) => one.close({ timeout })));
  }
}

/** The home of the providers of `forFeature`. */
class TicklessFeatureModule {}

// Decorators of parameters are none of the standard: as functions they need no compiler.
Module({})(TicklessModule);
for (const [index, token] of [ASSEMBLED, DiscoveryService, HttpAdapterHost, ModulesContainer].entries()) {
  Inject(token)(TicklessModule, undefined, index);
}
Module({})(TicklessFeatureModule);

/** @throws {TicklessError} `OPTION` naming every option that breaks a rule. */
function assemble(options: TicklessModuleOptions): Assembled {
  const { closeTimeout, console, lockedScheduler, ...ofGroup } = ownOptions(options);
  const checks = new OptionChecks('TicklessModule');
  const { backend, lock, clock, logger = new Logger('Tickless') } = ofGroup;
  if (closeTimeout !== undefined) checks.durationFromZero('closeTimeout', closeTimeout);
  if (console !== undefined) checks.function('console', console);
  if (lockedScheduler !== undefined) {
    const { backend: own = backend, lock: ownLock = lock, lockAtLeastFor } = ownOptions(lockedScheduler);
    const rule = 'must be given, here or of the module';
    checks.that(Boolean(own ?? ownLock), 'lockedScheduler.backend', rule, own);
    checks.durationFromZero('lockedScheduler.lockAtLeastFor', lockAtLeastFor);
  }
  checks.done();
  const group = new RefreshGroup({ ...ofGroup, logger });
  const ofMethods: Application = { group, backend: backend || undefined, lock, logger, clock };
  return { ...ofMethods, closeTimeout, console: console?.(group), lockedScheduler };
}

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
type MountedConsole = ((request: never, response: never, next: never) => void) & {
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

/** The key under which `@Cron`, `@Interval` and `@Timeout` of `@nestjs/schedule` leave their metadata. */
const SCHEDULER_TYPE = 'SCHEDULER_TYPE';

interface ReflectMetadata {
  getMetadata?(key: string, target: object): unknown;
}

/** Whether a scheduler calls the method, and no decorator of tickless has replaced it. */
function isUnlockedJob(member: PropertyDescriptor): boolean {
  const { value } = member;
  if (typeof value !== 'function' || makerOf(member) !== undefined) return false;
  return (Reflect as ReflectMetadata).getMetadata?.(SCHEDULER_TYPE, value) !== undefined;
}

/**
 * Replaces a method on one instance by a locked one: the scheduler finds that, if it has not looked before.
 *
 * @throws {TicklessError} `OPTION` for an instance that can not be changed: it is frozen, or a proxy.
 */
function lockJob(
  instance: object,
  name: string,
  method: PropertyDescriptor,
  options: LockedMethodOptions,
): void {
  const decorate = locked((one) => lockedBy(options, one)) as (...args: unknown[]) => PropertyDescriptor;
  const isReplaced = Reflect.defineProperty(instance, name, decorate(instance, name, method));
  const rule = `must be able to replace ${instance.constructor?.name}.${name} on its instance, which can not be changed (frozen?): give the method @Locked instead`;
  checked('TicklessModule', (checks) => checks.that(isReplaced, 'lockedScheduler', rule, options));
}
