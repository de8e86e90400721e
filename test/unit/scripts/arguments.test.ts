import { expect, it } from 'vitest';

interface Arguments {
  parsed(
    options: object,
    positionals: object,
    args: readonly string[],
  ): { readonly values: Readonly<Record<string, unknown>>; readonly positionals: readonly string[] };
  checkFilters(folder: string, filters: readonly string[]): void;
}

const { href } = new URL('../../../scripts/support/arguments.mjs', import.meta.url);
const { parsed, checkFilters } = (await import(href)) as Arguments;

const OPTIONS = {
  only: { type: 'string', multiple: true, choices: ['a', 'b', 'c'] },
  seeds: { type: 'string', number: 'a whole number over 0', default: '500' },
  list: { type: 'boolean' },
};
const of = (...args: string[]) => parsed(OPTIONS, { name: 'step', choices: ['all'], most: 1 }, args);

it('an option that may have several values takes all arguments up to the next option', () => {
  expect(of('--only', 'a', 'b', '--list').values).toMatchObject({ only: ['a', 'b'], list: true });
  expect(new Set(of('--only=a', 'b', '--only', 'c').values.only as string[])).toEqual(
    new Set(['a', 'b', 'c']),
  );
  expect(of('all', '--only', 'a')).toMatchObject({ values: { only: ['a'] }, positionals: ['all'] });
  expect(of('--only', 'a', '--', 'all').positionals).toEqual(['all']);
});

it('a default stays where the option is not given', () => {
  expect(of('all').values).toEqual({ seeds: '500' });
});

it.each([
  [['--only', 'a', 'typo'], '--only: received "typo", expected one of a, b, c'],
  [['typo'], 'step: received "typo", expected one of all'],
  [['all', 'all'], 'step: received "all", expected 1 at most'],
  [['--list', 'typo'], 'step: received "typo", expected one of all'],
  [['--seeds', 'ten'], '--seeds: received "ten", expected a whole number over 0'],
  [['--seeds', '0'], '--seeds: received "0", expected a whole number over 0'],
  [['--seeds', '1', '2'], 'step: received "2", expected one of all'],
  [['--sedes', '1'], "Unknown option '--sedes'"],
])('%j is refused', (args, message) => {
  expect(() => of(...args)).toThrow(message);
});

it('a part of a path that no test has is refused, also beside one that some have', () => {
  checkFilters('test/unit/scripts', ['arguments', 'scripts/check-']);
  expect(() => checkFilters('test/unit/scripts', ['arguments', 'typo'])).toThrow(
    'test file: received "typo"',
  );
});
