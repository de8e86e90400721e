// An index by postal code, and the number of places of each province: derived from values, computed when they are read
// and their sources have changed since.
import { derive, keep, type LoadContext, RefreshingValue } from 'tickless';
import { FakeClock } from 'tickless/testing';

const amsterdam = { code: '1012', name: 'Amsterdam', province: 'NH' };
const rotterdam = { code: '3011', name: 'Rotterdam', province: 'ZH' };
let edition: readonly (typeof amsterdam)[] = [amsterdam];
const clock = new FakeClock({ now: '2026-11-20T05:00:00Z' }); // a test clock, to see the ages

const places = new RefreshingValue({
  name: 'places',
  load: async ({ previous }: LoadContext<typeof edition>) => (previous?.value === edition ? keep() : edition),
  schedule: { minutes: 10 },
  clock,
});
const provinces = new RefreshingValue({
  name: 'provinces',
  load: async () => new Map(Object.entries({ NH: 'Noord-Holland', ZH: 'Zuid-Holland' })),
  schedule: { hours: 24 },
  clock,
});

let indexed = 0;
const byCode = derive(places, (rows) => {
  indexed += 1;
  return new Map(rows.map((row) => [row.code, row]));
});
const lines: string[] = []; // the log, which is the console by default
const logger = { warn: (line: string) => lines.push(line), error: (line: string) => lines.push(line) };
function count(rows: typeof edition, names: ReadonlyMap<string, string>): Record<string, number> {
  const unknown = rows.find(({ province }) => !names.has(province));
  if (unknown !== undefined) throw new Error(`unknown province ${unknown.province}`);
  const ofProvince = (province: string) => rows.filter((row) => row.province === province).length;
  return Object.fromEntries(Array.from(names, ([province, name]) => [name, ofProvince(province)]));
}
const perProvince = derive([places, provinces], count, { logger });

console.log(`1012 is ${(await byCode.get()).get('1012')?.name}`);
console.log(await perProvince.get());

// Reads keep the sources fresh. "Not modified" computes nothing.
for (let minute = 0; minute < 60; minute++) {
  await clock.advance({ minutes: 1 });
  byCode.current.get('1012');
  await clock.flush();
}
edition = [amsterdam, rotterdam];
console.log(`an hour of reads: indexed ${indexed} time`);
await places.refresh();
console.log(`3011 is ${byCode.current.get('3011')?.name}, indexed ${indexed} times`);
console.log(perProvince.current);
console.log(`as old as its oldest source: ${(perProvince.inspect().age ?? 0) / 60_000} min`);

// A function that throws: the last result stays, and the error is logged once.
places.set([{ code: '9999', name: 'Nowhere', province: '??' }]);
console.log(`still ${perProvince.current['Zuid-Holland']}: ${perProvince.inspect().lastError?.message}`);
await clock.flush();
console.log(`${lines.length} line in the log`);
