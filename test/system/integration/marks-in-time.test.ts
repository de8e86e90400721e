import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANGES, MarkedInstances } from './support/marked.ts';
import { ownKinds, startOwn } from './support/own-server.ts';
import type { RealServer } from './support/servers.ts';

// Rule 24, measured at the readers of four processes. TICKLESS_MARKS=1000 makes that many changes of each kind.

const INSTANCES = 4;
const WITHIN = 500;
const LANES = 20;
const OF_EACH = Number(process.env.TICKLESS_MARKS ?? 20);
/** The check, reads of the journal and the key, a load with its lease; on a machine with other things to do. */
const COMMANDS_MS = 250;

describe.each([
  ['redis', 'ioredis'],
  ['postgres', 'pg'],
] as const)('changes everywhere, by checks alone: %s', (engine, kind) => {
  if (!ownKinds.includes(engine)) return;
  let instances: MarkedInstances;
  let server: RealServer;
  beforeAll(async () => {
    server = await startOwn(engine);
    const settings = { kind, url: server.url, space: 'marks', propagateWithin: WITHIN, lanes: LANES };
    instances = await MarkedInstances.start(INSTANCES, settings);
  }, 120_000);
  afterAll(async () => {
    await instances?.close();
    await server?.close();
  });

  it(
    'no reader is served anything older for longer than propagateWithin and a few commands',
    async () => {
      const late = await instances.measure(CHANGES, OF_EACH);
      const at = (times: readonly number[], part: number): string =>
        (times[Math.min(times.length - 1, Math.floor(times.length * part))] as number).toFixed(0).padStart(5);
      for (const [change, times] of late)
        console.log(
          `${engine} ${change.padEnd(18)} ms after the bound: median ${at(times, 0.5)}, 99 % ${at(times, 0.99)}, most ${at(times, 1)} of ${times.length}`,
        );
      for (const [change, times] of late) expect(times.at(-1), change).toBeLessThan(COMMANDS_MS);
    },
    60_000 + OF_EACH * 10_000,
  );
});
