// The states of an entry: what each action makes of each state, as a key of a cache shows it.

import { absent, RefreshingCache } from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';

const ACTIONS = {
  'a load succeeds': ({ load }) => load('value'),
  'the load finds no such key': ({ load }) => load('absent'),
  'a load fails': ({ load }) => load('error'),
  'the period passes': ({ clock }) => clock.advance({ minutes: 10 }),
  'absentFor passes': ({ clock }) => clock.advance({ minutes: 1 }),
  'its age passes maxStaleness': ({ clock }) => clock.advance({ minutes: 61 }),
  set: ({ cache }) => cache.set('key', 'set'),
  invalidate: ({ cache }) => cache.invalidate('key'),
  'invalidate, drop': ({ cache }) => cache.invalidate('key', { drop: true }),
};

/** The state after these actions. */
async function stateAfter(actions) {
  const clock = new FakeClock();
  let outcome = 'value';
  const load = () => {
    if (outcome === 'error') throw new Error('down');
    return outcome === 'absent' ? absent() : outcome;
  };
  const options = {
    schedule: { minutes: 10 },
    maxStaleness: { minutes: 60 },
    random: () => 1 - 2 ** -53, // a key falls due when the schedule says
    retry: false,
    logger: false,
  };
  const cache = new RefreshingCache({ name: 'picture', load, clock, ...options });
  const world = {
    cache,
    clock,
    load: async (next) => {
      outcome = next;
      await cache.refresh('key').catch(() => {});
    },
  };
  for (const action of actions) await ACTIONS[action](world);
  return cache.inspect('key')?.state ?? 'empty';
}

export async function states() {
  const paths = new Map([['empty', []]]);
  const results = []; // of each action in each state
  for (const [from, path] of paths) {
    for (const action of Object.keys(ACTIONS)) {
      const to = await stateAfter([...path, action]);
      if (!paths.has(to)) paths.set(to, [...path, action]);
      results.push({ from, action, to });
    }
  }
  // An action that leads to one state from everywhere is one arrow.
  const edges = new Map();
  for (const { from, action, to } of results) {
    const isFromAny = results.every((other) => other.action !== action || other.to === to);
    if (!isFromAny && from === to) continue;
    const edge = `${isFromAny ? 'any' : from}>${to}`;
    edges.set(edge, new Set([...(edges.get(edge) ?? []), action]));
  }
  const classes = { fresh: 'good', stale: 'good', 'too-stale': 'bad', absent: 'waits', empty: 'waits' };
  const said = {
    empty: 'reads wait for the first load',
    fresh: 'reads are served',
    stale: 'reads are served,\\none load runs behind them',
    'too-stale': 'reads wait or throw:\\nwhenTooStale',
    absent: 'reads reject with ABSENT',
  };
  return `digraph {
    rankdir = TB; nodesep = 0.4; ranksep = 0.6
    node [shape = box, style = rounded, margin = "0.15,0.1"]
    any [label = "any state", shape = ellipse, class = start]
    ${[...paths.keys()].map((state) => `"${state}" [label = "${state}\\n${said[state]}", class = ${classes[state]}]`).join('\n')}
    ${[...edges].map(([edge, actions]) => `"${edge.replace('>', '" -> "')}" [label = "${[...actions].join('\\n')}"]`).join('\n')}
  }`;
}
