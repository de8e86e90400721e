// Closing prices, published on working days at 17:35 in New York: a cron expression in the zone of the exchange, with a
// little jitter so that the instances do not all load in the same second.
import { RefreshingValue, withJitter } from 'tickless';
import { cron } from 'tickless/calendar';
import { FakeClock } from 'tickless/testing';

const clock = new FakeClock({ now: '2026-10-29T12:00:00Z' }); // a test clock, set to a Thursday in autumn
const closingPrices = new RefreshingValue({
  name: 'closing-prices',
  load: async () => ({ ACME: 41.2, fetchedAt: new Date(clock.now()) }),
  schedule: withJitter(cron('35 17 * * MON-FRI', { zone: 'America/New_York' }), { minutes: 2 }),
  clock,
});

const loadedAt: string[] = [];
closingPrices.on('load-ended', ({ at }) => loadedAt.push(new Date(at).toISOString()));
await closingPrices.get();

// A read every ten minutes until Tuesday. Over the weekend nothing is due, so nothing is loaded; on Sunday the
// clocks go back an hour, so 17:35 is an hour later in UTC.
for (let reads = 0; reads < 6 * 24 * 5; reads++) {
  await clock.advance({ minutes: 10 });
  closingPrices.current;
  await clock.flush();
}
for (const instant of loadedAt) console.log(`loaded ${instant}`);
const next = new Date(closingPrices.inspect().nextExecuteTime);
console.log(`next   ${next.toISOString()}`);
