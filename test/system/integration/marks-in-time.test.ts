import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disturb, LONGEST_GUST_MS } from './support/disturbances.ts';
import { CHANGES, MarkedInstances } from './support/marked.ts';
import { ownKinds, startOwn } from './support/own-server.ts';
import { type FaultProxy, startProxy } from './support/proxy.ts';
import type { RealServer } from './support/servers.ts';

// Rule 24, measured at the readers of four processes. TICKLESS_MARKS=1000 makes that many changes of each kind.

const INSTANCES = 4;
const WITHIN = 500;
const LANES = 20;
const OF_EACH = Number(process.env.TICKLESS_MARKS ?? 20);
/** The check, reads of the invalidation log and the key, a load with its lease; on a machine with other things to do. */
const COMMANDS_MS = 250;

const engines = (['redis', 'postgres'] as const).filter((engine) => ownKinds.includes(engine));
const cases = engines.flatMap((engine) =>
  [false, true].map((isDisturbed) => ({
    ...{ engine, isDisturbed, kind: engine === 'redis' ? ('ioredis' as const) : ('pg' as const) },
    title: `${engine}, ${isDisturbed ? 'with delays, cuts, lost answers and silence' : 'calm'}`,
  })),
);

describe.each(cases)(
  'changes everywhere, by checks alone: $title',
  ({ engine, kind, isDisturbed, title }) => {
    let instances: MarkedInstances;
    let server: RealServer;
    let proxies: FaultProxy[] = [];
    beforeAll(async () => {
      server = await startOwn(engine);
      const { url } = server;
      if (isDisturbed)
        proxies = await Promise.all(Array.from({ length: INSTANCES }, () => startProxy(server)));
      instances = await MarkedInstances.start(INSTANCES, {
        ...{ kind, url, urls: proxies.map((proxy) => proxy.url), space: 'marks' },
        ...{ propagateWithin: WITHIN, keepVersions: 3, lanes: LANES },
      });
    }, 120_000);
    afterAll(async () => {
      await instances?.close();
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await server?.close();
    });

    it(
      'no reader is served anything older for longer than propagateWithin and a few commands',
      async () => {
        const measured = new AbortController();
        const disturbed = disturb(proxies, instances.disturbances, measured.signal);
        const late = await instances.measure(CHANGES, OF_EACH).finally(() => measured.abort());
        await disturbed;
        const at = (times: readonly number[], part: number): string =>
          (times[Math.min(times.length - 1, Math.floor(times.length * part))] as number)
            .toFixed(0)
            .padStart(5);
        if (isDisturbed)
          console.log(
            `${title}: disturbed ${instances.disturbances.length} times, ${instances.rejected} changes made again`,
          );
        for (const [change, times] of late)
          console.log(
            `${title}: ${change.padEnd(18)} ms after the bound: median ${at(times, 0.5)}, 99 % ${at(times, 0.99)}, most ${at(times, 1)} of ${times.length}`,
          );
        // The instance that loads for all may be another one than the reader's, and disturbed.
        const most = COMMANDS_MS + (isDisturbed ? LONGEST_GUST_MS : 0);
        for (const [change, times] of late) expect.soft(times.at(-1), change).toBeLessThan(most);
      },
      60_000 + OF_EACH * 10_000,
    );
  },
);
