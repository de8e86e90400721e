// An index by postal code and the number of places of each province, derived from one value; and a join with another
// value. Each is computed when it is read and its sources have changed since.
import { derive, keep, type LoadContext, RefreshingValue } from 'tickless';
import { FakeClock } from 'tickless/testing';

interface Place {
  readonly code: string;
  readonly name: string;
  readonly province: string;
}

const clock = new FakeClock({ now: '2026-11-20T05:00:00Z' }); // a test clock, to see the ages
let edition = 1;
const editions: Record<number, readonly Place[]> = {
  1: [
    { code: '1012', name: 'Amsterdam', province: 'NH' },
    { code: '2011', name: 'Haarlem', province: 'NH' },
  ],
  2: [
    { code: '1012', name: 'Amsterdam', province: 'NH' },
    { code: '2011', name: 'Haarlem', province: 'NH' },
    { code: '3011', name: 'Rotterdam', province: 'ZH' },
  ],
};

const places = new RefreshingValue({
  name: 'places',
  load: async ({ previous }: LoadContext<readonly Place[]>) => {
    const rows = editions[edition] as readonly Place[];
    return previous?.value === rows ? keep() : rows;
  },
  schedule: { minutes: 10 },
  clock,
});
const provinces = new RefreshingValue({
  name: 'provinces',
  load: async () => new Map([['NH', 'Noord-Holland'], ['ZH', 'Zuid-Holland']]), // biome-ignore format: short
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
function count(rows: readonly Place[], names: ReadonlyMap<string, string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { province } of rows) {
    const name = names.get(province);
    if (name === undefined) throw new Error(`unknown province ${province}`);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
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
console.log(`an hour of reads: indexed ${indexed} time`);

edition = 2;
await places.refresh();
console.log(`3011 is ${byCode.current.get('3011')?.name}, indexed ${indexed} times`);
console.log(perProvince.current);
const { age, state } = perProvince.inspect();
console.log(`as old as its oldest source: ${(age ?? 0) / 60_000} min, ${state}`);

// A function that throws: the last result stays, and the error is logged once.
places.set([{ code: '9999', name: 'Nowhere', province: '??' }]);
console.log(`still ${perProvince.current.size} provinces: ${perProvince.inspect().lastError?.message}`);
await clock.flush();
console.log(`${lines.length} line in the log`);
