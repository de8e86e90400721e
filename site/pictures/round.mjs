// The life of a round: two instances of a value, with a backend in memory, and every step that they take.

import { RefreshingValue } from '../../src/index.ts';
import { memoryRecords } from '../../src/records/memory-records.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { partsOn, recordsWith } from '../../test/support/parts.ts';

const COLUMNS = ['instance A', 'backend', 'instance B'];

/** What happens, in order: `from` and `to` are columns; a step of one column has `to` undefined. */
async function steps() {
  const seen = [];
  let isSeen = false;
  const note = (step) => isSeen && seen.push(step);
  const clock = new FakeClock();
  const records = memoryRecords(clock);

  /** The backend of an instance, each command of which is noted with its answer. */
  const backendOf = (instance) => {
    const apply = async (edits) => {
      const applied = await records.apply(edits);
      const own = edits.flatMap((edit, i) =>
        edit.name.endsWith('/rates') ? [{ edit, answer: applied.answers[i] }] : [],
      );
      if (own.length > 0) note({ from: instance, to: 'backend', ...told(own) });
      return applied;
    };
    return partsOn(recordsWith(records, { apply }));
  };
  let finish;
  let loads = 0;
  const load = () => new Promise((resolve) => (finish = () => resolve(++loads)));
  const make = (instance) => {
    const value = new RefreshingValue({
      name: 'rates',
      load,
      clock,
      retry: false,
      propagateWithin: { days: 1000 }, // longer than the picture: it is of rounds, not of checks
      backend: backendOf(instance),
    });
    value.on('load-started', () => note({ from: instance, text: 'the load runs', class: 'start' }));
    value.on('changed', () => note({ from: instance, text: 'the value is replaced', class: 'good' }));
    return value;
  };
  const [a, b] = [make('instance A'), make('instance B')];
  const first = a.get();
  await clock.flush();
  finish();
  await first;
  await clock.flush();
  await b.get();
  await clock.advance({ minutes: 11 });

  isSeen = true;
  const read = async (value, instance) => {
    note({ from: instance, text: 'a due read is served' });
    value.current;
    await clock.flush();
  };
  await read(a, 'instance A');
  await read(b, 'instance B');
  finish();
  await clock.flush();
  await clock.advance({ minutes: 1 });
  await read(b, 'instance B');
  return seen;
}

/** A command, and its answer: the edits of one name. */
function told(own) {
  const edits = own.map(({ edit }) => (edit.op === 'amend' ? (edit.phase ? 'release' : 'extend') : edit.op));
  const [first, second] = own.map(({ answer }) => answer);
  const text = edits.join(' and ').replace('put', 'write');
  if (edits[0] !== 'claim') return { text, answer: first.isDone ? 'done' : 'lost' };
  const claimed = first.isDone ? 'acquired' : first.row.phase === 'held' ? 'done' : 'held';
  const isNewer = !first.isDone && second?.isDone === true;
  return { text, answer: isNewer ? `${claimed}, with the newer snapshot` : claimed };
}

const WIDTH = 720;
const ROW = 34;
const at = (column) => 90 + COLUMNS.indexOf(column) * ((WIDTH - 180) / (COLUMNS.length - 1));

export async function round() {
  const all = await steps();
  let y = 70;
  const parts = all.map(({ from, to, text, answer, class: kind = 'box' }) => {
    const x = at(from);
    y += ROW;
    if (to === undefined) {
      return `<rect class="box ${kind}" x="${x - 78}" y="${y - 14}" width="156" height="26" rx="6"/><text x="${x}" y="${y + 4}" text-anchor="middle">${text}</text>`;
    }
    const end = at(to);
    const side = Math.sign(end - x);
    const tip = (tipX, direction, tipY) => `<path class="tip" d="M${tipX} ${tipY}l${-7 * direction} -4v8z"/>`;
    const middle = (Math.max(x, end) + Math.min(x, end)) / 2;
    y += 12;
    return `<path class="line" d="M${x} ${y - 10}H${end}"/>${tip(end, side, y - 10)}<text class="small" x="${middle}" y="${y - 15}" text-anchor="middle">${text}</text>
<path class="line dashed" d="M${end} ${y + 8}H${x}"/>${tip(x, -side, y + 8)}<text class="small" x="${middle}" y="${y + 3}" text-anchor="middle">${answer}</text>`;
  });
  const height = y + 40;
  const lines = COLUMNS.map(
    (name) =>
      `<rect class="box" x="${at(name) - 60}" y="24" width="120" height="30" rx="6"/><text x="${at(name)}" y="44" text-anchor="middle">${name}</text><path class="line" d="M${at(name)} 54V${height - 16}"/>`,
  );
  return `<svg width="${WIDTH}px" height="${height}px" viewBox="0 0 ${WIDTH} ${height}" xmlns="http://www.w3.org/2000/svg" font-family="Helvetica,Arial,sans-serif">
<rect class="ground" width="100%" height="100%"/>
${[...lines, ...parts].join('\n')}
</svg>
`;
}
