// A price list that shrinks by more than a third is not served before a person has looked at it. Here the source loses most
// of its rows, as after an import that broke off, and the operator decides.
import { RefreshingValue } from 'tickless';
import { every, notEmpty, shrinksAtMost } from 'tickless/guards';

interface Price {
  readonly code: string;
  readonly euro: number;
}

const wholeList = ['apple', 'pear', 'plum', 'quince'].map((code, index) => ({ code, euro: index + 1 }));
let source: readonly Price[] = wholeList;

const prices = new RefreshingValue({
  name: 'prices',
  load: async () => source,
  schedule: { minutes: 10 },
  accept: every<readonly Price[]>(
    notEmpty(),
    shrinksAtMost(0.34),
    (list) => list.every(({ euro }) => euro > 0) || 'a price is not over 0',
  ),
  logger: false, // the events below are the log
});
prices.on('value-rejected', ({ reason, size, previousSize }) => {
  console.log(`refused: ${reason} (${previousSize} before, ${size} now)`);
});
prices.on('changed', ({ value, cause }) => console.log(`${cause}: ${value.length} prices`));

await prices.get();

source = wholeList.slice(0, 1);
await prices.refresh().catch(() => {}); // in a service: the due reload behind a read
console.log(`served: ${prices.current.length} prices`);

// 1. The operator finds that the import broke off, and has it repeated. The next edition ends the refusal.
source = wholeList.map(({ code, euro }) => ({ code, euro: euro * 1.1 }));
await prices.refresh();
console.log(`refused: ${prices.inspect().refused?.reason ?? 'nothing'}`);

// 2. Another day the list is short because the shop sells apples only. With a backend all instances take it over.
source = wholeList.slice(0, 1);
await prices.refresh().catch(() => {});
const { differences, digest } = prices.inspect().refused ?? {};
console.log(`to decide on: ${differences?.removed.count} removed, ${differences?.changed.count} changed`);
await prices.refresh({ force: digest }); // only what was looked at

await prices.refresh(); // one price is the normal size from now on
console.log(`served: ${prices.current.map(({ code }) => code)}`);
