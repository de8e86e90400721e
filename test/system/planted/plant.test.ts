import { afterEach, expect, it } from 'vitest';
import { type Fault, plant } from './plant.ts';

const code = `
import { sep } from 'node:path';
const step = 1;
export function add(a, b) { return a + b; }
export const twice = (a) => add(a, a);
export class Counter {
  #count = 0;
  get count() { return this.#count; }
  increase(by) { this.#add(by); return this.count; }
  #add(by) { this.#count = add(this.#count, by); }
}
`;

const fault = (replace: string, by: string, name: string = replace): Fault => ({
  name,
  in: 'counter.js',
  replace,
  by,
});

interface Module {
  readonly add: (a: number, b: number) => number;
  readonly twice: (a: number) => number;
  readonly Counter: new () => { readonly count: number; increase(by: number): number };
}

/** Evaluates the module with its faults. */
async function load(...faults: readonly Fault[]): Promise<Module> {
  return import(`data:text/javascript,${encodeURIComponent(plant(code, faults))}`);
}

afterEach(() => {
  globalThis.planted = undefined;
});

it.each([
  ['a function', fault('add', '(a, b) => original(a, b) + step'), [4, 7, 3]],
  ['a variable', fault('twice', '(a) => original(a) * 10'), [3, 60, 2]],
  ['a method', fault('Counter.increase', '(by) => original(-by)'), [3, 6, -2]],
  ['a private method', fault('Counter.#add', '(by) => { original(by); this.#count += by; }'), [3, 6, 4]],
  ['a getter', fault('Counter.count', '() => original() + this.#count'), [3, 6, 4]],
])(
  '%s does what the fault says while it is switched on, and else what it always did',
  async (_, one, wrong) => {
    const { add, twice, Counter } = await load(one);
    const results = (): number[] => [add(1, 2), twice(3), new Counter().increase(2)];
    expect(results()).toEqual([3, 6, 2]);
    globalThis.planted = one.name;
    expect(results()).toEqual(wrong);
    globalThis.planted = 'another';
    expect(results()).toEqual([3, 6, 2]);
  },
);

it('one function can have several faults', async () => {
  const { add } = await load(fault('add', '() => 1', 'one'), fault('add', '() => 2', 'two'));
  const resultWith = (name: string): number => {
    globalThis.planted = name;
    return add(3, 4);
  };
  expect(['one', 'two', 'three'].map(resultWith)).toEqual([1, 2, 7]);
});

it.each(['remove', 'Counter', 'Counter.add', 'Timer.count', 'add.count'])(
  'a function that is not there, %s, is an error',
  (replace) => {
    expect(() => plant(code, [fault(replace, '() => 0')])).toThrow(
      `no such function: ${replace} in counter.js`,
    );
  },
);

it.each([
  ['subtract', '(a) => subtract(a)'],
  ['a', '() => a'],
  ['#total', '() => { this.#total = 1; }'],
])('a name that is not there, %s, is an error', (name, by) => {
  expect(() => plant(code, [fault('Counter.increase', by)])).toThrow(`no such name: ${name} in counter.js`);
});

it('a fault may use what the module declares and imports, its own names, and globals', () => {
  const by = `({ by = step, ...others }, [first]) => {
    for (const [index, one] of [first].entries()) add(index, one.subtract);
    try { original(by); } catch (error) { throw new Error(error.message + sep, { cause: others }); }
  }`;
  expect(() => plant(code, [fault('Counter.increase', by)])).not.toThrow();
});
