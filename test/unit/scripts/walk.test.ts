import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

interface SourceFunction {
  readonly name: string;
  readonly isShort: boolean;
}
interface Instrumented {
  readonly code: string;
  readonly types: readonly string[];
  readonly classes: readonly string[];
}
interface Figures {
  readonly calls: number;
  readonly files: number;
  readonly switches: number;
  readonly callsWithShortArrows: number;
  readonly perFile: Readonly<Record<string, number>>;
}

const module = new URL('../../../scripts/support/instrument.mjs', import.meta.url).href;
const { instrument } = (await import(module)) as {
  readonly instrument: (
    file: string,
    source: string,
    callFor: (found: SourceFunction) => string,
  ) => Instrumented;
};
const script = fileURLToPath(new URL('../../../scripts/walk.mjs', import.meta.url));

const SOURCE = `
  import type { Far } from '../far.ts';
  import { near, type Other } from './near.ts';
  export { a, b } from 'package';
  type Local = Far | Other;
  export interface Shape { readonly size: number }
  class Box implements Shape {
    readonly width: number;
    readonly #twice = (n: number): number => n * 2;
    constructor(width: number) { this.width = width; }
    get size(): number { return this.#twice(this.width); }
    static of({ width = 1 }: { width?: number }): Box { return new Box(width); }
  }
  function each(act: () => unknown): unknown { return act(); }
`;

it('puts a call at the start of each body, and names the function', () => {
  const { code } = instrument('box.ts', SOURCE, ({ name, isShort }) => `$enter('${name}', ${isShort})`);
  const body = code.replace(/^(import|export) .*$/gm, '');
  const entered: [string, boolean][] = [];
  const enter = (name: string, isShort: boolean): unknown => entered.push([name, isShort]);
  const run = new Function(
    '$enter',
    `${body}; return each(() => ({ size: Box.of({ width: 4 }).size })).size;`,
  );
  expect(run(enter)).toBe(8);
  expect(entered).toEqual([
    ['each', false],
    ['Box.of', false],
    ['Box.constructor', false],
    ['Box.size', false],
    ['Box.#twice', true],
  ]);
});

it('finds types and classes, and leads relative imports to the instrumented files', () => {
  const { code, types, classes } = instrument('box.ts', SOURCE, () => '$enter()');
  expect(types).toEqual(['Local', 'Shape', 'Box']);
  expect(classes).toEqual(['Box']);
  expect(code).toContain('"./near.ts.mjs"');
  expect(code).toContain('"package"');
});

it('walks each read of the library, the fresh one in a few calls', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--json'], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  const { reads } = JSON.parse(stdout) as { readonly reads: Readonly<Record<string, Figures>> };
  expect(Object.keys(reads)).toEqual(['fresh', 'due', 'locked', 'reported', 'keyed', 'keyed-locked']);
  for (const { calls, files, switches, callsWithShortArrows, perFile } of Object.values(reads)) {
    expect(Object.values(perFile).reduce((sum, each) => sum + each, 0)).toBe(calls);
    expect(Object.keys(perFile)).toHaveLength(files);
    expect(switches).toBeGreaterThanOrEqual(files - 1);
    expect(switches).toBeLessThan(calls);
    expect(callsWithShortArrows).toBeGreaterThanOrEqual(calls);
  }
  const { fresh, due, locked, keyed } = reads;
  expect(fresh?.calls).toBeLessThanOrEqual(4);
  expect(fresh?.files).toBeLessThanOrEqual(2);
  expect(due?.calls).toBeGreaterThan(fresh?.calls as number);
  expect(locked?.perFile).toHaveProperty(['records/lock/record-lock.ts']);
  expect(locked?.perFile).toHaveProperty(['records/store/record-store.ts']);
  expect(Object.keys(keyed?.perFile ?? {}).some((file) => file.startsWith('records/lock/'))).toBe(false);
});
