import { describe, expect, it } from 'vitest';
import { reportOf, runFixture } from './child.ts';

describe.concurrent('a promise of tickless that is dropped', () => {
  it('is never an unhandled rejection, however the load fails', async () => {
    const ended = await runFixture('dropped-promises');
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(reportOf<{ dropped: number }>(ended).dropped).toBeGreaterThan(2000);
  });

  it('control: one of the caller’s own ends the process with code 1', async () => {
    const ended = await runFixture('dropped-promises', { args: ['control'] });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('dropped by the fixture itself');
  });
});
