// The life of a read: all answers of `decide`, as the smallest chart of questions that gives them.

import { decide } from '../../src/engine/decide.ts';
import { defaults } from '../../src/options/defaults.ts';

const NOW = 1000;
const flight = {};

/** In the order in which a reader would ask them. Each answer changes what `decide` is given. */
const QUESTIONS = [
  { text: 'is there a value?', answers: { yes: {}, no: { isLoaded: false, dueAt: -Infinity } } },
  { text: 'is it older than\nmaxStaleness?', answers: { no: {}, yes: { maxStalenessMs: 1 } } },
  {
    text: 'whenTooStale?',
    answers: {
      wait: { whenTooStale: 'wait' },
      throw: { whenTooStale: 'throw' },
    },
  },
  { text: 'is it due?', answers: { yes: { dueAt: NOW }, no: { dueAt: NOW + 1 } } },
  { text: 'is a load\nunder way?', answers: { no: {}, yes: { flight } } },
  { text: 'cooling down,\nor paused?', answers: { no: {}, yes: { coolDownUntil: NOW + 1 } } },
];
const START = {
  isLoaded: true,
  lastError: undefined,
  flight: undefined,
  superseded: undefined,
  dueAt: NOW + 1,
  loadedAt: 0,
  maxStalenessMs: Infinity,
  coolDownUntil: -Infinity,
  deferredUntil: -Infinity,
  runState: 'open',
  whenTooStale: 'wait',
  whenFailing: 'serve',
};
const RESULTS = {
  serve: 'the value,\nat once',
  'serve-and-start': 'the value, at once;\na load starts\nbehind it',
  'wait-for-load': 'the read waits for\nthe load, or starts it\nand waits',
  reject: 'an error,\nat once',
  'reject-and-start': 'an error, at once;\na load starts\nbehind it',
};

export function read() {
  const nodes = new Map(); // equal parts of the chart are one
  function chart(given, [question, ...rest]) {
    if (question === undefined) return decide(given, given, NOW);
    const { text, answers } = question;
    const branches = Object.entries(answers).map(([label, changes]) => [
      label,
      chart({ ...given, ...changes }, rest),
    ]);
    if (branches.every(([, to]) => to === branches[0][1])) return branches[0][1];
    const id = JSON.stringify([text, branches]);
    if (!nodes.has(id)) nodes.set(id, { name: `q${nodes.size}`, text, branches });
    return nodes.get(id).name;
  }
  const first = chart(START, QUESTIONS);
  const quoted = (text) => JSON.stringify(text);
  const starts = ['serve-and-start', 'wait-for-load', 'reject-and-start'];
  const { initial, max } = defaults.coolDown;
  return `digraph {
    rankdir = TB; nodesep = 0.2; ranksep = 0.4
    node [shape = box, style = rounded, margin = "0.12,0.06"]
    read [label = "a read", class = start]
    read -> ${first}
    ${[...nodes.values()].map(({ name, text }) => `${name} [label = ${quoted(text)}, shape = hexagon, style = "", margin = "0.02,0.02"]`).join('\n')}
    ${[...nodes.values()].flatMap(({ name, branches }) => branches.map(([label, to]) => `${name} -> ${quoted(to)} [label = ${quoted(` ${label} `)}]`)).join('\n')}
    ${Object.entries(RESULTS)
      .map(
        ([name, text]) =>
          `${quoted(name)} [label = ${quoted(text)}, class = ${name.startsWith('reject') ? 'bad' : name === 'wait-for-load' ? 'waits' : 'good'}]`,
      )
      .join('\n')}
    { rank = same; ${Object.keys(RESULTS).map(quoted).join('; ')} }
    load [label = ${quoted(`one load, for all readers,\\nat most ${defaults.timeout / 1000} s, with all its tries`)}, class = start]
    ${starts.map((name) => `${quoted(name)} -> load [class = dashed]`).join('\n')}
    succeeded [label = "it succeeded\\nthe value is replaced,\\nits age is 0, the schedule\\nreturns when it is due"]
    failed [label = ${quoted(`it failed:\\nthe old value stays,\\nno read starts a load\\nfor ${initial / 1000} s, 2 s, 4 s … ${max / 60_000} min`)}]
    load -> succeeded [class = dashed]; load -> failed [class = dashed]
  }`.replaceAll('\\\\n', '\\n');
}
