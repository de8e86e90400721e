// A NestJS service whose reference data is kept fresh when it is read, with a job of @nestjs/schedule that runs on one instance at
// a time, a readiness probe and the console. Two instances run here, in one process.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { RefreshGroup } from 'tickless';
import { Reports, ShopModule, Source } from './shop.js';

async function start() {
  const app = await NestFactory.create(ShopModule, { logger: ['warn', 'error'] });
  app.enableShutdownHooks(); // SIGTERM drains what runs
  await app.get(RefreshGroup).ready({ timeout: '20s' }); // the required data is there before the first request
  await app.listen(0);
  return app;
}
const instances = [await start(), await start()];

const urls = await Promise.all(instances.map((app) => app.getUrl()));
for (const path of ['/rates', '/cities/1012', '/ready']) {
  const response = await fetch(`${urls[0]}${path}`);
  const age = response.headers.get('age');
  console.log(`${path}: ${response.status}${age === null ? '' : `, Age: ${age}`}, ${await response.text()}`);
}
await sleep(2500);
await Promise.all(instances.map((app) => app.close()));

const loads = instances.map((app) => app.get(Source).loads);
const sent = instances.flatMap((app) => app.get(Reports).sent);
console.log(`rates were loaded by ${loads.filter((count) => count > 0).length} of 2 instances`);
console.log(`${sent.length} reports, each sent once: ${new Set(sent).size === sent.length}`);
