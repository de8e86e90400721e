// A user's tests of a service in NestJS, on both HTTP platforms. Compiled and run by scripts/nestjs.mjs.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Controller,
  Get,
  type INestApplication,
  Inject,
  Injectable,
  type LoggerService,
  type ModuleMetadata,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
  Scope,
} from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { CronJob } from 'cron';
import { type Backend, isTicklessError, RefreshGroup, RefreshingCache, RefreshingValue } from 'tickless';
import { nodeConsole } from 'tickless/console/node';
import { lockedTaskOf, refreshing, refreshingOf } from 'tickless/decorators';
import { memoryBackend } from 'tickless/memory';
import {
  Locked,
  provideCache,
  provideValue,
  Refreshing,
  TicklessHealthIndicator,
  TicklessModule,
  type TicklessModuleAsyncOptions,
  type TicklessModuleOptions,
  type TicklessModuleOptionsFactory,
} from 'tickless/nestjs';
import { FakeClock } from 'tickless/testing';

/** The names of a backend's locks. */
async function locksOf({ lock }: Backend): Promise<string[]> {
  const { list } = lock as unknown as { list(): Promise<{ readonly name: string }[]> };
  return (await list.call(lock)).map(({ name }) => name).sort();
}

const membersOf = (group: RefreshGroup): string[] =>
  group
    .members()
    .map(({ name }) => name)
    .sort();

const PLATFORMS = { express: () => new ExpressAdapter(), fastify: () => new FastifyAdapter() };

/** An application that was initialised, of these providers and controllers. */
async function started(
  options: TicklessModuleOptions,
  metadata: ModuleMetadata = {},
  adapter = PLATFORMS.express(),
): Promise<INestApplication> {
  const app = await created(
    [TicklessModule.forRoot(options), ...(metadata.imports ?? [])],
    metadata,
    adapter,
  );
  await app.init();
  return app;
}

/** Two instances of a service. */
async function two(...of: Parameters<typeof started>): Promise<[INestApplication, INestApplication]> {
  return [await started(...of), await started(...of)];
}

async function created(
  imports: ModuleMetadata['imports'],
  metadata: ModuleMetadata,
  adapter: ExpressAdapter | FastifyAdapter = PLATFORMS.express(),
): Promise<INestApplication> {
  const module = await Test.createTestingModule({ ...metadata, imports }).compile();
  return module.createNestApplication(adapter as ExpressAdapter, { logger: false });
}

async function listening(app: INestApplication): Promise<string> {
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    assert.ok(tries < 500, 'it does not come true');
    await sleep(10);
  }
}

/** A promise that is settled from outside. */
function deferred<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const OPTION_ERROR = (error: unknown): boolean => isTicklessError(error, 'OPTION');

describe('injection', () => {
  abstract class Rates extends RefreshingValue<Record<string, number>> {}
  const CITIES = Symbol('cities');

  @Injectable()
  class Source {
    city(code: string): string {
      return `City of ${code}`;
    }
  }

  @Injectable()
  class Shop {
    constructor(
      readonly group: RefreshGroup,
      readonly rates: Rates,
      @Inject(CITIES) readonly cities: RefreshingCache<string, string>,
      @Inject('flags') readonly flags: RefreshingValue<string[]>,
    ) {}
  }

  it('gives values and caches by class, symbol and string, named after their tokens, in one group', async () => {
    const values = TicklessModule.forFeature([
      provideValue(Rates, { load: async () => ({ USD: 1.08 }) }),
      provideValue('flags', async () => ({ name: 'feature flags', load: () => ['dark'] })),
    ]);
    const loadOf = (source: Source) => ({ load: (code: string) => source.city(code) });
    const providers = [Source, Shop, provideCache(CITIES, loadOf, [Source])];
    const app = await started({}, { imports: [values], providers });
    const { group, rates, cities, flags } = app.get(Shop);
    assert.equal((await rates.get()).USD, 1.08);
    assert.equal(await cities.get('1012'), 'City of 1012');
    assert.deepEqual(flags.current, ['dark']);
    assert.equal(group, app.get(RefreshGroup));
    assert.deepEqual(membersOf(group), ['Rates', 'cities', 'feature flags']);
    await app.close();
    await assert.rejects(rates.refresh(), /closed/);
  });

  @Injectable()
  class Config {
    readonly zone = 'shop';
  }

  @Injectable()
  class DataOptions implements TicklessModuleOptionsFactory {
    constructor(private readonly config: Config) {}

    async create(): Promise<TicklessModuleOptions> {
      return { name: this.config.zone };
    }
  }

  const config = { module: class {}, providers: [Config], exports: [Config] };
  const existing = { ...config, providers: [Config, DataOptions], exports: [DataOptions] };
  const ASYNC: Record<string, TicklessModuleAsyncOptions> = {
    useFactory: {
      imports: [config],
      inject: [Config],
      useFactory: async ({ zone }: Config) => ({ name: zone, whenTooStale: 'throw', maxStaleness: '1h' }),
    },
    useClass: { imports: [config], useClass: DataOptions },
    useExisting: { imports: [existing], useExisting: DataOptions },
  };
  for (const [way, options] of Object.entries(ASYNC)) {
    it(`takes options from other providers (${way})`, async () => {
      const app = await created([TicklessModule.forRootAsync(options)], {});
      await app.init();
      assert.equal(app.get(RefreshGroup).inspect().name, 'shop');
      await app.close();
    });
  }

  it('ends the start at options that break a rule', async () => {
    const wrong = [
      { maxStaleness: -1 },
      { closeTimeout: -1 },
      { console: 5 },
      { unknown: 5 },
      { lockedScheduler: { lockAtLeastFor: '1s' } }, // no lock
      { lockedScheduler: {}, backend: memoryBackend() },
    ];
    for (const options of wrong) await assert.rejects(started(options as never), OPTION_ERROR);
  });
});

describe('@Refreshing', () => {
  @Injectable()
  class Cities implements OnModuleInit {
    loads = 0;
    early: string | undefined;

    @Refreshing({ schedule: '1h' })
    async city(code: string): Promise<string> {
      this.loads += 1;
      return `City of ${code}`;
    }

    @Refreshing<Cities>((cities) => ({ name: `countries ${cities.loads}`, required: true }))
    get countries(): Promise<string[]> {
      return Promise.resolve(['NL']);
    }

    @refreshing()
    async own(): Promise<number> {
      return 1;
    }

    async onModuleInit(): Promise<void> {
      this.early = await this.city('1012');
    }
  }

  @Controller()
  class Web {
    @Refreshing()
    @Get('edition')
    async edition(): Promise<{ edition: number }> {
      return { edition: 1 };
    }
  }

  for (const [platform, adapter] of Object.entries(PLATFORMS)) {
    it(`is a member of the group on providers and controllers (${platform})`, async () => {
      const app = await started({}, { providers: [Cities], controllers: [Web] }, adapter() as ExpressAdapter);
      const url = await listening(app);
      const cities = app.get(Cities);
      const group = app.get(RefreshGroup);
      assert.equal(cities.early, 'City of 1012'); // before its own onModuleInit
      assert.equal(await cities.city('1012'), 'City of 1012');
      assert.equal(cities.loads, 1);
      assert.deepEqual(membersOf(group), ['Cities.city', 'Web.edition', 'countries 0']);
      assert.equal((await group.ready()).ok, true);
      assert.deepEqual(refreshingOf(cities, 'countries').peek(), ['NL']);
      assert.deepEqual(await (await fetch(`${url}/edition`)).json(), { edition: 1 });
      await app.close();
      await assert.rejects(refreshingOf(cities, 'city').refresh('1012'), /closed/);
      await assert.rejects(refreshingOf(cities, 'own').refresh(), /closed/); // those of tickless/decorators too
    });
  }

  it('tells applications in one process apart', async () => {
    const apps = await two({}, { providers: [Cities] });
    const [first, second] = apps.map((app) => app.get(Cities)) as [Cities, Cities];
    assert.deepEqual([first.loads, second.loads], [1, 1]);
    await apps[0].close();
    assert.equal(await second.city('1013'), 'City of 1013');
    await apps[1].close();
  });

  it('ends the start at an option that breaks a rule', async () => {
    @Injectable()
    class Wrong {
      @Refreshing({ schedule: -1 })
      async value(): Promise<number> {
        return 1;
      }
    }
    await assert.rejects(started({}, { providers: [Wrong] }), OPTION_ERROR);
  });

  it('throws where the module does not find the instance', async () => {
    @Injectable()
    class Early {
      readonly thrown: unknown;
      constructor() {
        try {
          void this.value();
        } catch (error) {
          this.thrown = error;
        }
      }
      @Refreshing()
      async value(): Promise<number> {
        return 1;
      }
    }
    @Injectable({ scope: Scope.REQUEST })
    class OfRequest {
      @Refreshing()
      async value(): Promise<number> {
        return 1;
      }
    }
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient extends OfRequest {}
    const app = await started({}, { providers: [Early, OfRequest, Transient] });
    const early = app.get(Early);
    assert.match(String(early.thrown), /TypeError: @Refreshing of Early: TicklessModule has not found/);
    assert.equal(await early.value(), 1);
    const others = [await app.resolve(OfRequest), await app.resolve(Transient)];
    for (const one of others) assert.throws(() => one.value(), /singletons/);
    assert.equal(app.get(RefreshGroup).members().length, 1);
    await app.close();
  });
});

describe('@Locked', () => {
  @Injectable()
  class Reports {
    runs = 0;

    @Locked({ lockAtLeastFor: '1m', lockAtMostFor: '2m' })
    async send(): Promise<void> {
      this.runs += 1;
    }

    @Locked({ name: (tenant: string) => `report of ${tenant}` })
    async of(tenant: string): Promise<string | undefined> {
      return tenant;
    }
  }

  it('has the backend of the module', async () => {
    const backend = memoryBackend();
    const apps = await two({ backend }, { providers: [Reports] });
    const [first, second] = apps.map((app) => app.get(Reports)) as [Reports, Reports];
    await first.send();
    await second.send();
    assert.equal(first.runs + second.runs, 1);
    assert.equal(await second.of('nl'), 'nl');
    const { kind } = await lockedTaskOf(second, 'send')();
    assert.equal(kind, 'already-done');
    assert.deepEqual(await locksOf(backend), ['Reports.send', 'report of nl']);
    for (const app of apps) await app.close();
    await assert.rejects(first.send(), /closed/);
  });

  it('locks an override and the method that it calls by super apart, each closed at the shutdown', async () => {
    @Injectable()
    class Mail {
      readonly runs: string[] = [];
      @Locked({ lockAtLeastFor: '1m', lockAtMostFor: '2m' })
      async send(): Promise<void> {
        this.runs.push('base');
      }
      viaSuper(): Promise<void> {
        return Mail.prototype.send.call(this);
      }
    }
    @Injectable()
    class Newsletter extends Mail {
      @Locked({ lockAtLeastFor: '1m', lockAtMostFor: '2m' })
      override async send(): Promise<void> {
        await super.send();
        this.runs.push('override');
      }
    }
    @Injectable()
    class Plain extends Mail {
      override async send(): Promise<void> {
        await super.send();
        this.runs.push('plain');
      }
    }
    const backend = memoryBackend();
    const app = await started({ backend }, { providers: [Mail, Newsletter, Plain] });
    const all = [app.get(Mail), app.get(Newsletter), app.get(Plain)];
    for (const one of all) await one.send();
    assert.deepEqual(
      all.map(({ runs }) => runs),
      [['base'], ['base', 'override'], ['base', 'plain']],
    );
    const names = ['Mail.send', 'Mail.send of Newsletter', 'Mail.send of Plain', 'Newsletter.send'];
    assert.deepEqual(await locksOf(backend), names);
    await app.close();
    for (const one of all) await assert.rejects(one.viaSuper(), /closed/);
  });

  it('makes nothing of a method that an override replaces without super: it needs no lock', async () => {
    @Injectable()
    class Without extends Reports {
      override async send(): Promise<void> {}
      override async of(): Promise<undefined> {}
    }
    const app = await started({}, { providers: [Without] });
    await app.get(Without).send();
    await app.close();
  });

  it('follows the clock of the module', async () => {
    const clock = new FakeClock();
    const backend = memoryBackend({ clock });
    @Injectable()
    class Long {
      @Locked({ lockAtMostFor: '1h' })
      async run(): Promise<void> {
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 90 * 60_000));
      }
    }
    const app = await started({ backend, clock }, { providers: [Long] });
    const run = assert.rejects(app.get(Long).run(), /ran longer than lockAtMostFor of 1 h/);
    await clock.advance({ hours: 2 });
    await run;
    await app.close();
  });

  it('has a lock of its own where it is given, and needs one', async () => {
    const own = memoryBackend();
    @Injectable()
    class WithOwn {
      @Locked({ lock: own })
      async run(): Promise<void> {}
    }
    const app = await started({}, { providers: [WithOwn] });
    await app.get(WithOwn).run();
    assert.deepEqual(await locksOf(own), ['WithOwn.run']);
    await app.close();
    await assert.rejects(started({}, { providers: [Reports] }), OPTION_ERROR);
  });
});

describe('lockedScheduler', () => {
  @Injectable()
  class Jobs {
    readonly runs: string[] = [];

    @Cron('* * * * * *')
    async cron(): Promise<void> {
      this.runs.push('cron');
    }
    @Interval(300)
    async interval(): Promise<void> {
      this.runs.push('interval');
    }
    @Timeout(10)
    timeout(): void {
      this.runs.push('timeout');
    }
    @Cron('* * * * * *')
    @Locked({ name: 'its own' })
    async own(): Promise<void> {
      this.runs.push('own');
    }
    @Locked({ name: 'its own too' })
    @Interval(200) // in either order
    async ownToo(): Promise<void> {
      this.runs.push('too');
    }
    async unscheduled(): Promise<void> {}
  }

  for (const isFirst of [true, false]) {
    it(`runs each job on one instance, imported ${isFirst ? 'before' : 'after'} the scheduler`, async () => {
      const backend = memoryBackend();
      const tickless = TicklessModule.forRoot({
        backend,
        lockedScheduler: { lockAtMostFor: '1m', lockAtLeastFor: '30s' },
      });
      const imports = isFirst ? [tickless, ScheduleModule.forRoot()] : [ScheduleModule.forRoot(), tickless];
      const apps = [
        await created(imports, { providers: [Jobs] }),
        await created(imports, { providers: [Jobs] }),
      ];
      for (const app of apps) await app.init();
      const jobs = apps.map((app) => app.get(Jobs));
      await sleep(2200);
      await jobs[0]?.unscheduled();
      for (const app of apps) await app.close();
      const runs = jobs.flatMap(({ runs }) => runs);
      const count = (job: string): number => runs.filter((run) => run.startsWith(job)).length;
      assert.deepEqual([count('cron'), count('interval'), count('timeout')], [1, 1, 1]);
      assert.ok(count('own') >= 2 && count('too') >= 2);
      const locked = ['Jobs.cron', 'Jobs.interval', 'Jobs.timeout', 'its own', 'its own too'];
      assert.deepEqual(await locksOf(backend), locked);
    });
  }

  it('leaves jobs that are added by hand to the @Locked methods that they call', async () => {
    @Injectable()
    class ByHand implements OnModuleInit {
      readonly runs: string[] = [];
      constructor(private readonly registry: SchedulerRegistry) {}

      onModuleInit(): void {
        for (const tenant of ['be', 'nl']) {
          const job = new CronJob('* * * * * *', () => this.report(tenant));
          this.registry.addCronJob(`reports of ${tenant}`, job as never);
          job.start();
        }
        this.registry.addInterval(
          'clean',
          setInterval(() => this.clean(), 100),
        );
      }

      @Locked({ name: (tenant: string) => `reports/${tenant}`, lockAtLeastFor: '30s' })
      async report(tenant: string): Promise<void> {
        this.runs.push(tenant);
      }

      @Locked({ lockAtLeastFor: '30s' })
      async clean(): Promise<void> {
        this.runs.push('clean');
      }
    }
    const options = { backend: memoryBackend(), lockedScheduler: { lockAtLeastFor: '30s' } };
    const metadata = { imports: [ScheduleModule.forRoot()], providers: [ByHand] };
    const apps = await two(options, metadata);
    await sleep(1200);
    for (const app of apps) await app.close();
    const runs = apps.flatMap((app) => app.get(ByHand).runs);
    assert.deepEqual(runs.sort(), ['be', 'clean', 'nl']);
  });

  const SHUT: Record<string, <T extends object>(instance: T) => T> = {
    frozen: Object.freeze,
    sealed: Object.seal,
    proxied: (instance) => new Proxy(instance, { defineProperty: () => false }),
  };
  for (const [how, shut] of Object.entries(SHUT)) {
    it(`ends the start where it can not replace the method of a provider that is ${how}, and names @Locked, which can`, async () => {
      const runs: string[] = [];
      @Injectable()
      class Bare {
        @Interval(20)
        async tick(): Promise<void> {}
      }
      @Injectable()
      class WithLocked {
        @Interval(20)
        @Locked({ lockAtLeastFor: '30s' })
        async tick(): Promise<void> {
          runs.push('tick');
        }
      }
      const options = { backend: memoryBackend(), lockedScheduler: { lockAtLeastFor: '30s' } };
      const imports = [ScheduleModule.forRoot()];
      const bare = { provide: Bare, useFactory: () => shut(new Bare()) };
      await assert.rejects(started(options, { imports, providers: [bare] }), (error: Error) => {
        assert.match(error.message, /replace Bare\.tick .*give the method @Locked instead/);
        return isTicklessError(error, 'OPTION');
      });
      const withLocked = { provide: WithLocked, useFactory: () => shut(new WithLocked()) };
      const app = await started(options, { imports, providers: [withLocked] });
      await until(() => runs.length > 0);
      await sleep(100);
      await app.close();
      assert.deepEqual(runs, ['tick']);
    });
  }

  it('leaves jobs alone without it', async () => {
    @Injectable()
    class Free {
      runs = 0;
      @Interval(20)
      async run(): Promise<void> {
        this.runs += 1;
      }
    }
    const imports = [ScheduleModule.forRoot()];
    const backend = memoryBackend();
    const app = await started({ backend }, { imports, providers: [Free] });
    await until(() => app.get(Free).runs > 1);
    await app.close();
    assert.deepEqual(await locksOf(backend), []);
  });
});

describe('shutdown', () => {
  const load = deferred<number>();

  @Injectable()
  class Last implements OnApplicationShutdown {
    state: string | undefined;
    constructor(readonly group: RefreshGroup) {}
    onApplicationShutdown(): void {
      this.state = this.group.inspect().closed ? 'closed' : 'open';
    }
  }

  @Controller()
  class Web {
    constructor(@Inject('slow') readonly slow: RefreshingValue<number>) {}
    @Get()
    async read(): Promise<{ slow: number }> {
      return { slow: await this.slow.get() };
    }
  }

  for (const [platform, adapter] of Object.entries(PLATFORMS)) {
    it(`answers the last request, and drains after all other providers (${platform})`, async () => {
      const begun = deferred<void>();
      const value = provideValue('slow', {
        load: async () => {
          begun.resolve();
          return load.promise;
        },
      });
      const metadata = { providers: [Last, value], controllers: [Web] };
      const app = await started({}, metadata, adapter() as ExpressAdapter);
      const url = await listening(app);
      const asked = fetch(url, { headers: { connection: 'close' } });
      await begun.promise;
      const closing = app.close();
      setTimeout(() => load.resolve(5), 50);
      assert.deepEqual(await (await asked).json(), { slow: 5 });
      await closing;
      assert.equal(app.get(Last).state, 'open');
      assert.equal(app.get(RefreshGroup).inspect().closed, true);
    });
  }

  it('closes the group also where the console can not be closed, and logs it', async () => {
    const lines: string[] = [];
    const logger = { warn() {}, error: (line: string) => lines.push(line) };
    const close = (): never => {
      throw new Error('no');
    };
    const app = await started({ logger, console: () => Object.assign(() => {}, { close }) });
    await app.close();
    assert.equal(app.get(RefreshGroup).inspect().closed, true);
    assert.deepEqual(lines, ['tickless: TicklessModule: the console could not be closed: no']);
  });

  it('closes the group exactly where NestJS closes its server, when the hook of another provider throws', async () => {
    @Injectable()
    class Bad implements OnModuleDestroy {
      onModuleDestroy(): void {
        throw new Error('a bug elsewhere');
      }
    }
    const providers = [Bad, provideValue('slow', { load: () => 5 })];
    const app = await started({}, { providers, controllers: [Web] });
    const url = await listening(app);
    const error = await app.close().then(
      () => undefined,
      (thrown: Error) => thrown.message,
    );
    const group = app.get(RefreshGroup);
    const answer = await fetch(url, { headers: { connection: 'close' } }).then(
      (response) => response.json(),
      () => undefined,
    );
    if (error === undefined) {
      assert.deepEqual([group.inspect().closed, answer], [true, undefined]); // NestJS 12 logs it
      return;
    }
    assert.equal(error, 'a bug elsewhere'); // NestJS 11 stops there
    assert.deepEqual([group.inspect().closed, answer], [false, { slow: 5 }]);
    await group.close();
    assert.equal(group.inspect().closed, true);
    app.getHttpServer().close();
  });

  it('aborts what takes longer than closeTimeout, and tells the logger of NestJS', async () => {
    const lines: unknown[] = [];
    let hasBegun = false;
    const logger: LoggerService = {
      log() {},
      warn: (line: unknown) => lines.push(line),
      error() {},
    };
    @Injectable()
    class Endless {
      @Locked()
      async run(): Promise<void> {
        hasBegun = true;
        return new Promise(() => {});
      }
      @Refreshing()
      async value(): Promise<number> {
        return new Promise(() => {});
      }
    }
    const app = await started({ backend: memoryBackend(), closeTimeout: 0 }, { providers: [Endless] });
    app.useLogger(logger);
    void app.get(Endless).run();
    const value = assert.rejects(app.get(Endless).value());
    await until(() => hasBegun);
    await app.close();
    await value;
    const text = lines.join('\n');
    assert.match(text, /Endless.value/);
    assert.match(text, /Endless.run: closed after 0 ms: aborted 1 run/);
    app.useLogger(false);
  });
});

describe('TicklessHealthIndicator', () => {
  @Controller()
  class Health {
    constructor(
      private readonly health: HealthCheckService,
      private readonly data: TicklessHealthIndicator,
    ) {}
    @Get('ready')
    @HealthCheck()
    ready() {
      return this.health.check([() => this.data.isHealthy('data')]);
    }
  }

  it('is down until required data is there, starts what is due, and stays up while old data is served', async () => {
    let isUp = false;
    const load = async (): Promise<number> => {
      if (!isUp) throw new Error('at secret.internal');
      return 1;
    };
    const rates = provideValue('rates', { load, required: true, retry: false, coolDown: 1, logger: false });
    const app = await started({}, { imports: [TerminusModule], controllers: [Health], providers: [rates] });
    const url = `${await listening(app)}/ready`;
    const asked = async () => {
      const response = await fetch(url);
      const text = await response.text();
      assert.doesNotMatch(text, /secret/);
      return { code: response.status, ...JSON.parse(text) };
    };
    const cold = await asked();
    assert.deepEqual([cold.code, cold.error.data.status], [503, 'down']);
    assert.deepEqual(cold.error.data.problems, [{ name: 'rates', kind: 'not-loaded', isFatal: true }]);
    isUp = true;
    await app.get(RefreshGroup).ready();
    assert.deepEqual((await asked()).details, { data: { status: 'up', problems: [] } });
    isUp = false;
    await app
      .get<RefreshingValue<number>>('rates')
      .refresh()
      .catch(() => {});
    const { code, details } = await asked();
    assert.deepEqual([code, details.data.problems[0].kind], [200, 'failing']);
    await app.close();
  });
});

describe('the console', () => {
  @Controller()
  class Web {
    @Get('shop')
    shop(): { shop: boolean } {
      return { shop: true };
    }
  }

  for (const [platform, adapter] of Object.entries(PLATFORMS)) {
    it(`is mounted on the HTTP server, takes actions, and ends its streams (${platform})`, async () => {
      let who: string | undefined = 'ann';
      const options: TicklessModuleOptions = {
        console: (group) => nodeConsole(group, { authorize: () => who, actions: true }),
      };
      const metadata = { controllers: [Web], providers: [provideValue('rates', { load: () => 1 })] };
      const app = await started(options, metadata, adapter() as ExpressAdapter);
      const url = await listening(app);
      const page = await fetch(`${url}/tickless/`);
      assert.equal(page.status, 200);
      assert.match(await page.text(), /<!doctype html>/i);
      assert.deepEqual(await (await fetch(`${url}/shop`)).json(), { shop: true });
      assert.equal((await fetch(`${url}/nothing`)).status, 404);
      const { token } = await (await fetch(`${url}/tickless/api/session`)).json();
      const action = await fetch(`${url}/tickless/api/actions/refresh`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-tickless-token': token, origin: url },
        body: JSON.stringify({ id: 'rates', note: 'a test' }),
      });
      assert.equal(action.status, 200, await action.text());
      assert.equal(app.get<RefreshingValue<number>>('rates').peek(), 1);
      const stream = await fetch(`${url}/tickless/api/live`);
      assert.equal(stream.status, 200);
      who = undefined;
      assert.equal((await fetch(`${url}/tickless/`)).status, 403);
      const begun = performance.now();
      await app.close();
      await stream.text().catch(() => '');
      assert.ok(performance.now() - begun < 4000);
    });
  }
});

describe('docs/nestjs.md', () => {
  it('serves, and drains after SIGTERM', async () => {
    const child = spawn(process.execPath, ['out/docs/main.js'], {
      env: { ...process.env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const ended = once(child, 'exit');
    await until(() => /http:\S+/.test(output) || child.exitCode !== null);
    const url = /http:\S+/.exec(output)?.[0].replace('[::1]', 'localhost');
    assert.notEqual(url, undefined, output);
    const rates = await fetch(`${url}/rates`);
    assert.equal(rates.status, 200);
    assert.deepEqual(await rates.json(), { USD: 1.08 });
    assert.equal((await fetch(`${url}/ready`)).status, 200);
    assert.deepEqual(await (await fetch(`${url}/cities/1012`)).json(), { city: 'City of 1012' });
    child.kill('SIGTERM');
    const [code, signal] = await ended;
    assert.deepEqual([code, signal], [null, 'SIGTERM']);
  });
});
