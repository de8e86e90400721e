import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type HeldVersion,
  NO_VERSION,
  type VersionEvent,
  versionAfter,
} from '../../../src/cluster/held-version.ts';
import type { Pin } from '../../../src/cluster/pin.ts';

const pin: Pin = { by: 'ann', sinceAt: 0, untilAt: Number.POSITIVE_INFINITY, maxStalenessMs: undefined };
const KINDS = ['published', 'publishing', 'local'] as const;

/** Each event, with what happens to the version 3, which is pinned. That of the event is 5. */
const EVENTS: readonly (readonly [string, VersionEvent])[] = [
  ['a value without a version is set', { on: 'set' }],
  ['a load without a lease', { on: 'loaded', token: undefined, isShared: true }],
  ['a load with the token 5', { on: 'loaded', token: 5, isShared: true }],
  ['the same without a store', { on: 'loaded', token: 5, isShared: false }],
  ['version 2 is confirmed, with the same text', { on: 'confirmed', version: 2 }],
  ['5 is found in the store', { on: 'found', version: 5 }],
  ['an earlier version is put back', { on: 'put back' }],
  ['5 is adopted', { on: 'adopted', version: 5, pin: undefined }],
  ['5 is adopted, pinned', { on: 'adopted', version: 5, pin }],
  ['the value in place is written as 5', { on: 'written', version: 5, pin: undefined, isInPlace: true }],
  ['the same, pinned', { on: 'written', version: 5, pin, isInPlace: true }],
  ['another value is written as 5', { on: 'written', version: 5, pin: undefined, isInPlace: false }],
  ['the store has a newer one', { on: 'refused' }],
  ['what was put back was not published', { on: 'given up', isInPlace: true }],
  ['the same, and is not in place any longer', { on: 'given up', isInPlace: false }],
  ['its pin is over', { on: 'unpinned' }],
  ['the clock of the backend was set back', { on: 'clock set back' }],
];

function shown({ as, version, pin: held }: HeldVersion): string {
  return `${as} ${version}${held === undefined ? '' : ', pinned'}`;
}

function rowOf([about, event]: (typeof EVENTS)[number]): string {
  const after = KINDS.map((as) => shown(versionAfter({ as, version: 3, pin }, event)));
  return `| ${about} | ${after.join(' | ')} |`;
}

describe('the version of the value in place', () => {
  const architecture = readFileSync('docs/ARCHITECTURE.md', 'utf8');

  it.each(EVENTS)('changes as the table in ARCHITECTURE says: %s', (...row) => {
    expect(architecture).toContain(rowOf(row));
  });

  it('is changed by ClusterState alone', () => {
    const files = readdirSync('src/cluster').filter((file) =>
      /[.]held = /.test(readFileSync(`src/cluster/${file}`, 'utf8')),
    );
    expect(files).toEqual(['cluster-state.ts']);
  });

  it('never falls, but where it is given up, has the text of one before, or the clock of the backend is set back', () => {
    for (const [, event] of EVENTS) {
      if (event.on === 'confirmed') continue; // by the table
      for (const as of KINDS) {
        const { version } = versionAfter({ as, version: 7, pin }, event);
        const isEnd = event.on === 'given up' || event.on === 'clock set back';
        expect([event.on, version]).toEqual([event.on, isEnd ? 0 : 7]);
      }
    }
  });

  it('is none at first, and the first written one where the value has none', () => {
    expect(shown(NO_VERSION)).toBe('published 0');
    const local = versionAfter(NO_VERSION, { on: 'set' });
    const written = { on: 'written', version: 1, pin: undefined, isInPlace: true } as const;
    expect([local, versionAfter(local, written)].map(shown)).toEqual(['local 0', 'published 1']);
  });
});
