import { describe, expect, it } from 'vitest';
import { fleetOf } from '../../../src/cluster/fleet.ts';
import { type OwnMember, readReport, reportOf } from '../../../src/cluster/fleet-report.ts';
import type { StoredReport } from '../../../src/cluster/store-contract.ts';
import { ownMember } from '../../support/own-member.ts';

/** As it is read. */
const { executions: _, ...CALM }: OwnMember = ownMember();

/** The report of an instance, as the store has it. */
function stored(host: string, ...members: Partial<OwnMember>[]): StoredReport {
  const all = members.map(ownMember);
  return {
    instance: `id-${host}`,
    text: reportOf({ host, upFor: 5000, lasts: 15_000 }, all).text,
    age: 1000,
  };
}

describe('the report of an instance', () => {
  it('has each member, with ages that go on', () => {
    const pinned = { by: 'ann', note: 'bad edition' };
    const refused = { reason: 'empty', for: 500 };
    const error = 'ECONNREFUSED';
    const problem = { failures: 2, error, pinned, refused };
    const cold = { name: 'cold', version: undefined, age: undefined };
    const read = readReport(stored('pod-1', problem, { kind: 'cache', age: 0 }, cold));
    expect(read).toEqual({
      id: 'id-pod-1',
      host: 'pod-1',
      upFor: 6000,
      seenAgo: 1000,
      leftOut: 0,
      members: [
        { ...CALM, ...problem, age: 61_000, refused: { reason: 'empty', for: 1500 } },
        { ...CALM, kind: 'cache', age: 1000 },
        { ...CALM, ...cold },
      ],
    });
  });

  it('is bounded: members with problems are in it, then those with the youngest values', () => {
    const members = Array.from({ length: 1000 }, (_, i) => ownMember({ name: `v${i}`, age: 1000 - i }));
    const failing = ownMember({ name: 'failing', age: 1e6, failures: 1, error: 'x'.repeat(10_000) });
    const pinned = ownMember({ name: 'pinned', age: 1e6, pinned: { by: 'ann', note: undefined } });
    const refused = ownMember({ name: 'refused', age: 1e6, refused: { reason: 'empty', for: 0 } });
    const { text } = reportOf({ host: 'h', upFor: 0, lasts: 15_000 }, [...members, failing, pinned, refused]);
    const read = readReport({ instance: 'a', text, age: 0 });
    expect(read?.members.map(({ name }) => name)).toEqual([
      'failing',
      'pinned',
      'refused',
      ...Array.from({ length: 197 }, (_, i) => `v${999 - i}`),
    ]);
    expect({ leftOut: read?.leftOut, error: read?.members[0]?.error?.length }).toEqual({
      leftOut: 803,
      error: 200,
    });
    const longNames = members.map((member, i) => ({ ...member, name: `${'é'.repeat(1500)}${i}` }));
    const long = reportOf({ host: 'h', upFor: 0, lasts: 15_000 }, [...longNames, ownMember()]).text;
    const bytes = new TextEncoder().encode(long).length;
    expect(bytes).toBeLessThanOrEqual(65_536);
    expect(bytes).toBeGreaterThan(60_000);
    const kept = readReport({ instance: 'a', text: long, age: 0 });
    expect(kept?.leftOut).toBe(1001 - (kept?.members.length ?? 0));
  });

  it.each([
    'not a report',
    '-',
    '[]',
    'null',
    '{"tickless":2,"host":"h","members":[]}',
    '{"tickless":1,"host":"h"}',
    '{"tickless":1,"host":7,"members":[]}',
    `{"tickless":1,"host":"h","members":[],"more":"${'x'.repeat(65_536)}"}`,
  ])('of another format counts as absent: %.40s', (text) => {
    expect(fleetOf([{ instance: 'a', text, age: 0 }])).toEqual({ instances: [], idle: [], members: [] });
  });

  it('is not believed beyond its types, and shown on one line', () => {
    const members = [
      null,
      7,
      { name: 7 },
      {
        name: 'a\nb\u001b',
        kind: 'x',
        version: -1,
        age: 'old',
        failures: 1.5,
        error: {},
        pinned: { by: 7 },
        refused: { reason: 7 },
      },
      {
        name: '__proto__',
        version: 5,
        failures: 1,
        error: 'e\r\nf',
        pinned: { by: 'x'.repeat(1000), note: {} },
      },
    ];
    const text = JSON.stringify({ tickless: 1, host: 'h\n', upFor: -1, leftOut: '7', members });
    const { instances, members: all } = fleetOf([{ instance: 'i\n', text, age: Number.NaN }]);
    expect(instances[0]).toMatchObject({ id: 'i ', host: 'h ', upFor: 0, seenAgo: 0, leftOut: 0 });
    const nothing = { version: undefined, age: undefined };
    const unknown = { failures: 0, error: undefined, pinned: undefined, refused: undefined };
    expect(instances[0]?.members[0]).toEqual({ name: 'a b\\u001b', kind: 'value', ...nothing, ...unknown });
    expect(instances[0]?.members.length).toBe(2);
    expect(all[0]).toMatchObject({ name: '__proto__', version: 5, failing: [{ error: 'e f' }] });
    expect(all[0]?.pinned[0]?.by.length).toBe(200);
  });
});

describe('the fleet', () => {
  it('tells the processes of one host apart in that line', () => {
    const [holds, is, older] = [stored('vm', {}), stored('pod-2', {}), stored('vm', { version: 811 })];
    const { members } = fleetOf([holds, is, { ...older, instance: '8-c' }]);
    expect(members[0]?.text).toMatch(/^2 of 3 hold version 812, .*behind: vm \(8\)$/);
  });

  it('sums up each member in one line', () => {
    const calm = Array.from({ length: 37 }, (_, i) => stored(`pod-${i + 10}`, {}));
    const failing = stored('pod-7', { version: 811, age: 659_000, failures: 3, error: 'ECONNREFUSED' });
    const cold = ['pod-8', 'pod-9'].map((host) => stored(host, { version: undefined, age: undefined }));
    const { members, instances } = fleetOf([...calm, failing, ...cold]);
    const id = { id: 'id-pod-7', host: 'pod-7' };
    expect(members).toEqual([
      {
        name: 'rates',
        kind: 'value',
        version: 812,
        of: 40,
        holding: 37,
        takingOver: 0,
        behind: [{ ...id, version: 811 }],
        oldest: 660_000,
        failing: [{ ...id, failures: 3, error: 'ECONNREFUSED' }],
        pinned: [],
        refused: [],
        text: '37 of 40 hold version 812, oldest 11 min, pod-7 failing: ECONNREFUSED',
      },
    ]);
    expect(instances.map(({ host }) => host).slice(-4)).toEqual(['pod-46', 'pod-7', 'pod-8', 'pod-9']);
  });

  it('counts apart those that were taking over the newest version, or a later one', () => {
    const older = (host: string, takingOver: number) => stored(host, { version: 811, takingOver });
    const [member] = fleetOf([stored('a', {}), older('b', 812), older('c', 813), older('d', 811)]).members;
    expect(member).toMatchObject({ of: 4, holding: 1, takingOver: 2, behind: [{ host: 'd', version: 811 }] });
    expect(member?.text).toBe('1 of 4 holds version 812, 2 taking it over, oldest 1 min 1 s, behind: d');
  });

  it('names a few of each kind, and is bounded', () => {
    const text = (...all: StoredReport[]): string | undefined => fleetOf(all).members[0]?.text;
    const older = [1, 2, 3, 4, 5].map((i) => stored(`pod-${i}`, { version: 800 }));
    expect(text(...older, stored('pod-0', {}))).toBe(
      '1 of 6 holds version 812, oldest 1 min 1 s, behind: pod-1, pod-2, pod-3 and 2 more',
    );
    const none = { version: undefined, age: undefined };
    expect(text(stored('a', none), stored('b', none))).toBe('none of 2 has a version');
    const pinned = { by: 'ann', note: 'bad edition' };
    expect(
      text(stored('a', { pinned, refused: { reason: 'it shrinks', for: 0 } }), stored('b', { pinned })),
    ).toBe('2 of 2 hold version 812, oldest 1 min 1 s, pinned by ann: bad edition, refused on a: it shrinks');
    const cache = { kind: 'cache', age: undefined, version: undefined } as const;
    expect(text(stored('a', cache), stored('b', cache))).toBe('2 without marks');
    expect(
      text(stored('a', cache), stored('b', { ...cache, version: 7, failures: 2, error: 'ETIMEDOUT' })),
    ).toBe('1 of 2 knows all marks up to version 7, behind: a, b failing: ETIMEDOUT');
    const long = 'x'.repeat(1000);
    const bad = {
      failures: 1,
      error: long,
      pinned: { by: long, note: long },
      refused: { reason: long, for: 0 },
    };
    expect(text(...['a', 'b', 'c', 'd'].map((host) => stored(host.repeat(200), bad)))?.length).toBeLessThan(
      2000,
    );
  });

  it('counts a member once on an instance', () => {
    const twice = stored('a', { age: 1 }, { age: 2 });
    expect(fleetOf([twice]).members).toMatchObject([{ name: 'rates', of: 1 }]);
    expect(fleetOf([twice], [{ name: 'rates' }]).members.length).toBe(1);
    expect(fleetOf([twice], [{ name: 'other' }])).toEqual({
      instances: [],
      idle: [],
      members: [],
    });
  });
});
