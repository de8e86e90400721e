import { describe, expect, it } from 'vitest';
import { median, quartersOf, type Sample } from '../../system/soak/samples.ts';
import { added, flatness, none } from '../../system/soak/verdict.ts';

/** Samples of a heap that is as given, with as many loads in all as samples so far. */
function samplesOf(heaps: readonly number[], live: (index: number) => Record<string, number> = () => ({})) {
  return heaps.map((heap, index): Sample => ({ heap, live: live(index), done: { loads: 10 * (index + 1) } }));
}

const flat = new Array<number>(45).fill(100);

describe('the quarters of a soak', () => {
  it('leave out the warm-up, and have the medians of the heap', () => {
    const heaps = [
      ...new Array(9).fill(1),
      ...new Array(9).fill(10),
      ...new Array(9).fill(20),
      ...new Array(9).fill(30),
    ];
    const last = [40, 40, 40, 40, 40, 1, 1, 99, 99];
    expect(quartersOf(samplesOf([...heaps, ...last])).map(({ heap }) => heap)).toEqual([10, 20, 30, 40]);
  });

  it('count what was done in each', () => {
    expect(quartersOf(samplesOf(flat)).map(({ done }) => done)).toEqual(new Array(4).fill({ loads: 90 }));
  });

  it('have the medians of what was live, where a kind may come later', () => {
    const quarters = quartersOf(samplesOf(flat, (index) => (index < 25 ? {} : { sockets: index })));
    expect(quarters.map(({ live }) => Object.values(live))).toEqual([[], [0], [31], [40]]);
  });

  it('are refused where there are too few samples for them', () => {
    expect(() => quartersOf(samplesOf([1, 2, 3, 4]))).toThrow('4 samples make no quarters');
    expect(quartersOf(samplesOf([1, 2, 3, 4, 5])).map(({ heap }) => heap)).toEqual([2, 3, 4, 5]);
  });

  it('have a median of an even number of samples between the middle two', () => {
    expect([median([1, 100, 3, 2]), median([9, 1, 2])]).toEqual([2.5, 2]);
  });
});

describe('the verdict of a soak', () => {
  const judge = (last: number, live: (index: number) => Record<string, number> = () => ({})) =>
    flatness(quartersOf(samplesOf([...flat.slice(9), ...new Array(9).fill(last)], live)));

  it.each([
    [104.9, true, '+4.9 %'],
    [105, false, '+5.0 %'],
    [80, true, '-20.0 %'],
  ])('on a heap that ends at %d of 100', (last, isOk, value) => {
    expect(judge(last)).toEqual([
      { label: 'heap, from the first quarter to the last', isOk, value, bound: 'below +5 %' },
    ]);
  });

  it('on objects that become more and more, though the heap hides it', () => {
    const checks = judge(100, (index) => ({ signals: 10 * index, members: 50 + (index % 7) }));
    expect(checks.map(({ label, isOk }) => [label.split(',')[0], isOk])).toEqual([
      ['heap', true],
      ['live signals', false],
      ['live members', true],
    ]);
  });

  it('on what is left', () => {
    expect([none('timers', 0).isOk, none('timers', 1).isOk, none('handles', []).isOk]).toEqual([
      true,
      false,
      true,
    ]);
    const left = added(['PipeWrap', 'Timeout'], ['Timeout', 'PipeWrap', 'TCPSocketWrap', 'Timeout']);
    expect(none('handles', left)).toMatchObject({ isOk: false, value: 'TCPSocketWrap, Timeout' });
  });
});
