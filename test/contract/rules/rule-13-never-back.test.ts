import { describe, expect, it } from 'vitest';
import { loaded } from '../../../src/index.ts';
import type { Answer, Records } from '../../../src/records/records.ts';
import { Link, ManualCluster, warmOne, warmPair } from '../../support/cluster.ts';
import { wordsOf } from '../../support/events.ts';
import { recordsWith } from '../../support/parts.ts';
import { rejectionOf } from '../../support/settle.ts';

/** A store that offers what it held at first, whatever it is asked for. */
function stuck(records: Records): Records {
  let first: Answer | undefined;
  return recordsWith(records, {
    async apply(edits) {
      const { now, answers } = await records.apply(edits);
      const shown = answers.map((answer, i) => {
        if (edits[i]?.op !== 'read' || answer instanceof Error) return answer;
        if (answer.row !== undefined) first ??= answer;
        return first ?? answer;
      });
      return { now, answers: shown };
    },
  });
}

describe('rule 13: a value never goes back', () => {
  it('a snapshot of an older version is not taken, also where the store offers it', async () => {
    const { cluster, a } = await warmOne();
    const link = new Link(stuck(cluster.records), cluster.options);
    const b = cluster.instance({ store: link.store, lock: link.lock });
    expect(await b.value.get()).toBe('one');
    const version = b.value.inspect().lock?.version as number;
    for (const index of [1, 2]) {
      await cluster.readAfter(1025, a);
      await cluster.end(a, index, `${index}`);
      await cluster.read(b); // the round is done, and the store shows the old snapshot
      b.manual.calls.at(index - 1)?.resolve(`of b ${index}`);
      await cluster.clock.flush();
      expect(b.value.peek()).toBe(`of b ${index}`);
      expect(b.value.inspect().lock?.version).toBeGreaterThan(version);
    }
    expect(wordsOf(b.events).filter((type) => type === 'adopted')).toHaveLength(1);
  });

  it('the version is raised by what was loaded here, so that no older snapshot takes its place', async () => {
    const { cluster, a } = await warmOne();
    const { value, manual, link } = a!;
    expect(value.inspect().lock?.version).toBe(manual.call(0).context.token);
    link.break('refused', 'write');
    await rejectionOf(cluster.refresh({ value, manual }, 1, 'two')); // it is loaded here all the same
    expect(value.inspect().lock?.version).toBeUndefined(); // no other instance has it
    link.mend();
    const other = cluster.instance({ schedule: { hours: 1 } });
    await cluster.refresh(other, 0, 'three');
    await cluster.readAfter(1000, { value });
    const asked = link.commands.filter(({ step }) => step === 'acquire').at(-1);
    expect(asked?.args[1]).toBe(manual.call(1).context.token);
    expect(value.peek()).toBe('three');
  });

  it('what was set by hand is not replaced by a snapshot that was made before', async () => {
    const cluster = new ManualCluster();
    const b = cluster.instance({ schedule: 500 });
    const [a] = await cluster.warm(1, { schedule: { hours: 1 } });
    await cluster.clock.advance(10);
    b.value.set('by hand', { here: true });
    await cluster.readAfter(500, b); // the round is done for an hour
    expect(b.value.peek()).toBe('by hand');
    expect(a.value.peek()).toBe('one');
    expect(b.manual.calls).toHaveLength(0);
  });

  it('what was loaded without the lock is not replaced by a snapshot that was made before', async () => {
    const { cluster, a, b } = await warmPair({ schedule: { hours: 1 } });
    await cluster.clock.advance(10);
    b.link.break('refused', 'acquire');
    const refreshed = b.value.refresh({ here: true });
    await cluster.clock.flush();
    b.manual.call(0).resolve(loaded('without the lock', { dueAfter: 2000 }) as never);
    await refreshed;
    b.link.mend();
    expect(b.value.inspect().lock?.version).toBeUndefined();
    await cluster.readAfter(2000, b);
    expect(wordsOf(b.events)).toContain('done');
    expect(b.value.peek()).toBe('without the lock');

    await cluster.refresh(a, 1, 'two');
    await cluster.clock.advance({ minutes: 59, seconds: 59 }); // the hold that b knows of is over
    await cluster.read(b);
    expect(b.value.peek()).toBe('two');
    expect(b.manual.calls).toHaveLength(1);
  });

  it('versions are those of the tokens at each reader, through many rounds of two instances', async () => {
    const cluster = new ManualCluster();
    const pair = await cluster.warm(2);
    const seen = pair.map(() => [] as number[]);
    for (let round = 0; round < 10; round++) {
      await cluster.clock.advance(1030);
      for (const { value } of round % 2 === 0 ? pair : [...pair].reverse()) value.current;
      await cluster.clock.flush();
      for (const { manual } of pair) manual.calls.at(-1)?.resolve(`round ${round}`);
      await cluster.clock.advance(300);
      for (const { value } of pair) value.current;
      await cluster.clock.flush();
      for (const [index, { value }] of pair.entries()) {
        seen[index]?.push(value.inspect().lock?.version as number);
        expect(value.peek()).toBe(`round ${round}`);
      }
    }
    for (const versions of seen) {
      expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
      expect(versions).toHaveLength(10);
    }
  });
});
