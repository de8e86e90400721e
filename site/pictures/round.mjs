// The life of a round: two instances of a value, with a backend in memory, and every step that they take.

import { memoryBackend } from '../../src/backends/memory.ts';
import { RefreshingValue } from '../../src/index.ts';
import { asLock } from '../../src/records/lock/as-lock.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { lockOf, storeOf } from '../../test/support/parts.ts';
import { wrapStore } from '../../test/support/wrap-store.ts';

const COLUMNS = ['instance A', 'lock', 'store', 'instance B'];

/** What happens, in order: `from` and `to` are columns; a step of one column has `to` undefined. */
async function steps() {
  const seen = [];
  let isSeen = false;
  const note = (step) => isSeen && seen.push(step);
  const clock = new FakeClock();
  const backends = { lock: lockOf(memoryBackend({ clock })), store: storeOf(memoryBackend({ clock })) };

  /** The backend, each call of which is noted with its answer. */
  const noted = (name, instance) =>
    new Proxy(backends[name], {
      get(target, method) {
        const member = Reflect.get(target, method, target);
        if (typeof member !== 'function') return member;
        if (/Many$|^versions$|^reports$|^history$/.test(String(method))) return undefined;
        return async (...args) => {
          const answer = await member.apply(target, args);
          note({ from: instance, to: name, text: String(method), answer: answered(method, answer) });
          return answer;
        };
      },
    });
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
      backend: { lock: asLock(noted('lock', instance)), store: wrapStore(noted('store', instance)) },
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

function answered(method, answer) {
  if (method === 'acquire' || method === 'write') return answer.kind;
  if (method === 'read') return answer === undefined ? 'nothing newer' : 'newer snapshot';
  return answer ? 'done' : 'lost';
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
