// The module of a shop: exchange rates by a class, cities by a method, and a report that one instance of the service sends.
import {
  Controller,
  Get,
  Global,
  Injectable,
  Module,
  Param,
  Res,
  ServiceUnavailableException,
} from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { ageHeaders, RefreshingValue } from 'tickless';
import { nodeConsole } from 'tickless/console/node';
import { memoryBackend } from 'tickless/memory';
import { provideValue, Refreshing, TicklessHealthIndicator, TicklessModule } from 'tickless/nestjs';

/** Where the data comes from. */
@Injectable()
export class Source {
  isUp = true;
  loads = 0;

  async rates(): Promise<Record<string, number>> {
    if (!this.isUp) throw new Error('the source is down');
    this.loads += 1;
    return { USD: 1.08, GBP: 0.86 };
  }

  async city(code: string): Promise<string> {
    this.loads += 1;
    return `City of ${code}`;
  }
}

/** Injected by its class, so that its type is known. */
export abstract class Rates extends RefreshingValue<Record<string, number>> {}

/** Methods that keep their results fresh, one value for each combination of arguments. */
@Injectable()
class Cities {
  constructor(private readonly source: Source) {}

  @Refreshing({ schedule: '1h', max: 10_000 })
  async city(code: string): Promise<string> {
    return this.source.city(code);
  }
}

/** `lockedScheduler` below locks each job of the service, under the names of its class and method. */
@Injectable()
export class Reports {
  /** In seconds: a second in which both instances had sent one would be there twice. */
  readonly sent: number[] = [];

  constructor(private readonly rates: Rates) {}

  @Cron('* * * * * *')
  async send(): Promise<void> {
    await this.rates.get();
    this.sent.push(Math.round(Date.now() / 1000));
  }
}

/** The part of a response of Express and Fastify that is needed here. */
interface Response {
  header(name: string, value: string): unknown;
}

@Controller()
class ShopController {
  constructor(
    private readonly rates: Rates,
    private readonly cities: Cities,
  ) {}

  @Get('rates')
  async allRates(@Res({ passthrough: true }) response: Response): Promise<Record<string, number>> {
    const value = await this.rates.get().catch((error: Error) => {
      throw new ServiceUnavailableException(error.message);
    });
    for (const [name, text] of Object.entries(ageHeaders(this.rates.inspect()))) response.header(name, text);
    return value;
  }

  @Get('cities/:code')
  async city(@Param('code') code: string): Promise<{ city: string }> {
    return { city: await this.cities.city(code) };
  }
}

@Controller()
class HealthController {
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

@Global()
@Module({ providers: [Source], exports: [Source] })
class SourceModule {}

/** In production one that all instances share: redisBackend({ client }), postgresBackend({ client }). */
const backend = memoryBackend();

@Module({
  imports: [
    ScheduleModule.forRoot(),
    TerminusModule,
    TicklessModule.forRoot({
      backend,
      schedule: '10m',
      lockedScheduler: { lockAtMostFor: '1m', lockAtLeastFor: '600ms' },
      console: (group) => nodeConsole(group, { authorize: () => 'anyone on this machine', locks: [backend] }),
    }),
    SourceModule,
    TicklessModule.forFeature([
      provideValue(
        Rates,
        (source: Source) => ({ name: 'rates', load: () => source.rates(), required: true }),
        [Source],
      ),
    ]),
  ],
  controllers: [ShopController, HealthController],
  providers: [Cities, Reports],
})
export class ShopModule {}
