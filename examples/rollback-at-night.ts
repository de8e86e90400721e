// 05:10: a bad edition of the price list is live. An operator puts the edition before it back into place, on all instances within five seconds. The schedule does not bring the bad one back while it is pinned.
import { RefreshingValue } from 'tickless';
import { memoryBackend } from 'tickless/memory';
import { FakeClock } from 'tickless/testing';

interface Price {
  readonly code: string;
  readonly cents: number;
}

const clock = new FakeClock({ now: '2026-11-23T05:00:00Z' });
const backend = memoryBackend({ clock, keepVersions: 5 });
const good: Price[] = [{ code: 'apple', cents: 120 }, { code: 'pear', cents: 90 }]; // biome-ignore format: two prices
const bad = good.map(({ code }) => ({ code, cents: 0 }));
const editions = [good, bad];

// In production the two are in processes of their own, with `redisBackend` and the like.
const instance = () =>
  new RefreshingValue({
    name: 'prices',
    load: async () => editions.shift() ?? bad,
    schedule: { minutes: 10 },
    propagateWithin: { seconds: 5 },
    clock,
    backend,
    logger: false, // without it a pin is logged when it begins and ends
  });
const [a, b] = [instance(), instance()];
await a.get();
await b.get();
await clock.advance(600_100);
await a.refresh(); // 05:10: the bad edition
b.current;
await clock.flush();

console.log(`${(await a.history()).length} editions are in the store`);

await a.rollback({ by: 'ann', note: 'all prices are 0', hold: { hours: 4 } });
console.log('here', a.current[0]);
await clock.advance({ seconds: 5 }); // the other instance follows with a read
b.current;
await clock.flush();
const { pinned } = b.inspect();
console.log('there', b.current[0], `pinned by ${pinned?.by}: ${pinned?.note}`);

console.log(await b.refresh().catch((error) => error.message));

await b.unpin(); // the source is mended
editions.splice(0, editions.length, good);
await clock.advance(100);
b.current;
await clock.flush();
console.log('loaded again', b.current.length, 'prices, pinned:', b.inspect().pinned !== undefined);
await Promise.all([a.close(), b.close()]);
