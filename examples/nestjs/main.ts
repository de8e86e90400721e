// A NestJS service with two kinds of methods: reference data that is kept fresh when it is read, and a job of
// @nestjs/schedule that runs on one instance of the service at a time. Two instances run here, in one process.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import type { LockProvider } from 'tickless';
import {
  loadContext,
  locked,
  lockedContext,
  lockedTaskOf,
  refreshing,
  refreshingOf,
} from 'tickless/decorators';
import { memoryLock } from 'tickless/memory';

const LOCK = Symbol('lock');
const lock = memoryLock(); // in production one that all instances share: redisLock({ client }), postgresLock({ client })
const sent: string[] = [];

@Injectable()
class Reports implements OnModuleDestroy {
  loads = 0;
  readonly lock: LockProvider;

  constructor(lock: LockProvider) {
    this.lock = lock;
  }

  @refreshing({ schedule: '10m', max: 1000 })
  async recipients(country: string): Promise<string[]> {
    loadContext().signal.throwIfAborted();
    this.loads += 1;
    return [`ann@${country}.example`, `bob@${country}.example`];
  }

  @Cron('* * * * * *')
  @locked<Reports>(({ lock }) => ({
    name: 'hourly report',
    lock,
    lockAtMostFor: '1m', // longer than the job ever takes
    lockAtLeastFor: '600ms', // longer than the clocks of the instances differ
  }))
  async send(): Promise<void> {
    const { signal } = lockedContext();
    const recipients = await this.recipients('nl');
    await sleep(20, undefined, { signal }); // the work
    sent.push(`${recipients.length} reports`);
  }

  @locked<Reports>(({ lock }) => ({ name: 'nightly clean-up', lock }))
  @Cron('* * * * * *') // in either order
  async cleanUp(): Promise<void> {
    sent.push('clean-up');
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([lockedTaskOf(this, 'send').close(), refreshingOf(this, 'recipients').close()]);
  }
}

@Module({
  imports: [ScheduleModule.forRoot()],
  providers: [
    { provide: LOCK, useValue: lock },
    { provide: Reports, useFactory: (given: LockProvider) => new Reports(given), inject: [LOCK] },
  ],
})
class ReportsModule {}

const start = () => NestFactory.createApplicationContext(ReportsModule, { logger: ['warn', 'error'] });
const instances = [await start(), await start()];
await sleep(2500);
const loads = instances.map((instance) => instance.get(Reports).loads);
for (const instance of instances) await instance.close();
console.log(`sent ${sent.filter((line) => line === '2 reports').length} times by 2 instances`);
console.log(
  `cleaned up: ${sent.includes('clean-up')}, at most one load each: ${loads.every((count) => count <= 1)}`,
);
