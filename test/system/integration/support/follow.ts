import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Backend, RefreshingValue } from '../../../../src/index.ts';

/** An instance whose value is due all the time, and read all the time. */
export interface Followed {
  /** Those that it had, in their order. */
  readonly versions: readonly number[];
  /** Rejects if a read has failed. */
  end(): Promise<void>;
}

export function follow(backend: Backend): Followed {
  const versions: number[] = [];
  let loads = 0;
  let isOver = false;
  const value = new RefreshingValue({
    ...{ name: 'often', load: () => ++loads, schedule: 100, logger: false as const, backend },
  });
  const reads = (async () => {
    while (!isOver) {
      await value.get();
      const { version } = value.inspect().lock ?? {};
      if (version !== undefined && version !== versions.at(-1)) versions.push(version);
      await sleep(10);
    }
  })();
  reads.catch(() => {}); // awaited at the end
  const end = async (): Promise<void> => {
    isOver = true;
    await reads;
    await value.close();
  };
  return { versions, end };
}

const newest = ({ versions }: Followed): number => versions.at(-1) ?? 0;

/** Waits until each has a newer version than any of them has now. */
export async function furtherOn(all: readonly Followed[]): Promise<void> {
  const from = Math.max(...all.map(newest));
  await expect.poll(() => all.every((each) => newest(each) > from)).toBe(true);
}

/** Ends them: no read has failed, and no version has gone back. */
export async function expectNoneWentBack(all: readonly Followed[]): Promise<void> {
  for (const { end } of all) await end();
  for (const { versions } of all) expect(versions).toEqual(versions.toSorted((a, b) => a - b));
}
