import { expect, it } from 'vitest';
import { soakReport } from '../../system/soak/report.ts';

const quarter = (heap: number, timers: number, reads: number) => ({
  heap,
  live: { timers },
  done: { reads },
});

it('shows each quarter of a soak in a column, and says which checks fail', () => {
  const report = soakReport({
    part: 'virtual',
    samples: [],
    quarters: [quarter(1e7, 3, 1000), quarter(1.1e7, 40.5, 2000)],
    checks: [
      { label: 'timers left', value: '0', bound: '0', isOk: true },
      { label: 'heap', value: '+10.0 %', bound: 'below +5 %', isOk: false },
    ],
    notes: ['20 % of a processor'],
  });
  expect(`\n${report}\n`).toBe(`
virtual                         quarter 1  quarter 2
heap after a forced collection   10.00 MB   11.00 MB
live (median)
  timers                                3         41
done
  reads                             1,000      2,000
0 samples; a quarter's heap is the median of its own, after a warm-up
20 % of a processor

ok   timers left        0           0
FAIL heap         +10.0 %  below +5 %
`);
});
