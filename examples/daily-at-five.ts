// A reload at 05:00 in Amsterdam every day, also on the days that have 23 or 25 hours: by `dailyAt`, and by a
// subclass that computes the next execute time itself. A table is also filled when the process starts; a mail waits for five o'clock.
import { DateTime } from 'luxon';
import { type Execution, PeriodicExecutor, RefreshingValue } from 'tickless';
import { dailyAt } from 'tickless/calendar';
import { FakeClock } from 'tickless/testing';

const zone = 'Europe/Amsterdam';
const clock = new FakeClock({ now: '2026-03-27T12:00:00Z' }); // a test clock, to live through spring in no time

// One line: the schedule that comes with tickless.
const tariffs = new RefreshingValue({
  name: 'tariffs',
  load: () => `the tariffs of ${DateTime.fromMillis(clock.now(), { zone }).toISODate()}`,
  schedule: dailyAt('05:00', { zone }),
  clock,
});

// A task that must not run at each start of the process: at a deploy at noon it sends nothing.
const mail = new PeriodicExecutor(() => {}, {
  name: 'morning-mail',
  schedule: dailyAt('05:00', { zone }),
  firstRun: 'scheduled',
  clock,
});

// Or your own rule, in a subclass of the executor (or of RefreshingValue).
class EveryMorning extends PeriodicExecutor {
  protected override nextExecuteTime({ endedAt, since = endedAt }: Execution): number {
    const last = DateTime.fromMillis(since, { zone });
    const five = last.set({ hour: 5, minute: 0, second: 0, millisecond: 0 });
    return (five > last ? five : five.plus({ days: 1 })).toMillis(); // luxon's day is a calendar day, not 24 hours
  }
}
const report = new EveryMorning(() => {}, { name: 'morning-report', firstRun: 'now', clock }); // 'now' is the default

const local = (instant: number) => DateTime.fromMillis(instant, { zone }).toFormat('ccc yyyy-MM-dd HH:mm ZZ');
const executedAt: string[] = [];
const sentAt: string[] = [];
report.on('load-started', ({ at }) => executedAt.push(local(at)));
mail.on('load-started', ({ at }) => sentAt.push(local(at)));
await Promise.all([report.requestStart(), mail.requestStart()]);
console.log(`first read: ${tariffs.current}`);

// One read an hour from Friday to Monday; on Sunday 29 March the clocks go from 02:00 to 03:00.
for (let hour = 0; hour < 72; hour++) {
  await clock.advance({ hours: 1 });
  await Promise.all([report.requestStart(), mail.requestStart()]);
  await tariffs.get();
  await clock.flush(); // lets what started behind the read come to its end
}
for (const instant of executedAt) console.log(`executed ${instant}`);
for (const instant of sentAt) console.log(`sent     ${instant}`);
console.log(`last read:  ${tariffs.current}, next ${local(tariffs.inspect().nextExecuteTime)}`);
console.log(`the executor's next ${local(report.inspect().nextExecuteTime)}`);
