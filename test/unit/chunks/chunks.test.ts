import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Assembly } from '../../../src/chunks/assembly.ts';
import type { Chunk } from '../../../src/chunks/chunk.ts';
import { chunks } from '../../../src/chunks/chunks.ts';
import { weightOf } from '../../../src/chunks/walk.ts';
import { graph, plain, shapeOf } from '../../support/shapes.ts';

/** Sends a value in chunks, each cloned as between threads. */
function throughParts(value: unknown, mostWeight?: number): { whole: unknown; sent: Chunk[] } {
  const assembly = new Assembly();
  const sent = [...chunks(value, mostWeight)];
  for (const chunk of sent) assembly.add(structuredClone(chunk));
  return { whole: assembly.whole, sent };
}

describe('a value in chunks', () => {
  it('is equal to its structured clone, in the same order', () => {
    const property = fc.property(plain, fc.integer({ min: 1, max: 20 }), (value, mostWeight) => {
      deepStrictEqual(shapeOf(throughParts(value, mostWeight).whole), shapeOf(structuredClone(value)));
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('is equal to it also with shared objects and cycles', () => {
    const property = fc.property(graph, fc.integer({ min: 1, max: 30 }), (nodes, mostWeight) => {
      for (const value of [nodes, nodes[0], { all: nodes, again: new Map([['nodes', nodes]]) }]) {
        deepStrictEqual(shapeOf(throughParts(value, mostWeight).whole), shapeOf(structuredClone(value)));
      }
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('comes in chunks of bounded weight', () => {
    const rows = Array.from({ length: 5000 }, (_, i) => ({ i, text: 'x'.repeat(i % 600), list: [i, [i]] }));
    const value = {
      rows,
      byCode: new Map(rows.map(({ i, text }) => [`code ${i}`, { text }])),
      codes: new Set(rows.map(({ i }) => `${i}`)),
      byName: Object.fromEntries(rows.map(({ i }) => [`name ${i}`, { i }])),
      deep: [[[[rows.map(({ i }) => ({ i }))]]]],
    };
    const { whole, sent } = throughParts(value, 500);
    expect(whole).toEqual(value);
    const weights = sent.map((chunk) =>
      chunk.kind === 'fill' ? weightOf([chunk.keys, chunk.values], 1e9) : 0,
    );
    expect(Math.max(...weights)).toBeLessThan(600);
    const fills = weights.filter((weight) => weight > 0);
    expect(weights.length - fills.length).toBe(2 * 10); // as many are opened as are closed, and no small ones
    expect(fills.filter((weight) => weight < 100).length).toBeLessThan(10); // the last ones of their containers
  });

  it('comes in one chunk when it is small', () => {
    expect([...chunks({ a: [1, 2, 3] })]).toHaveLength(1);
    expect([...chunks(undefined)]).toHaveLength(1);
  });

  it('has objects that occur twice as one object', () => {
    const empty: unknown[] = [];
    const rows = Array.from({ length: 200 }, (_, i) => ({ i, tags: i % 3 ? empty : [i] }));
    const byParity = new Map([0, 1].map((parity) => [parity, rows.filter(({ i }) => i % 2 === parity)]));
    const value = {
      rows,
      byParity,
      byName: Object.fromEntries(rows.map((row) => [`row ${row.i}`, row])),
      again: rows,
    };
    const { whole, sent } = throughParts(value, 20);
    expect(whole).toEqual(value);
    const found = whole as typeof value;
    expect(found.again).toBe(found.rows);
    expect(found.byParity.get(1)?.[7]).toBe(found.rows[15]);
    expect(found.byName['row 15']).toBe(found.rows[15]);
    expect(new Set(found.rows.map(({ tags }) => tags)).size).toBe(68);
    expect(sent.length).toBeGreaterThan(30);
    expect(structuredClone(sent.slice(-20))).toEqual(sent.slice(-20));
  });

  it.each([
    ['the key of a Map', (same: object) => new Map([[same, 1]])],
    ['an element of a Set', (same: object) => new Set([same])],
    ['beneath one', (same: object) => new Set([[same]])],
    ['an instance of a class', (same: object) => Object.assign(Object.create({}), { same })],
    ['what an error has', (same: object) => Object.assign(new Error('e'), { same })],
  ])('comes in one chunk when an object that occurs twice is %s', (_, make) => {
    const same = { same: true };
    for (const last of [
      [same, make(same)],
      [make(same), same],
      [make(same), make(same)],
    ]) {
      const { whole, sent } = throughParts([...Array.from({ length: 100 }, (_, i) => [i]), ...last], 10);
      expect(sent).toHaveLength(1);
      expect(whole).toEqual(structuredClone([...Array.from({ length: 100 }, (_, i) => [i]), ...last]));
    }
  });

  it('comes in one chunk when two views share a buffer', () => {
    const bytes = new Uint8Array(8);
    const { whole, sent } = throughParts(
      [...Array.from({ length: 100 }, (_, i) => [i]), bytes, bytes.subarray(4)],
      10,
    );
    expect(sent).toHaveLength(1);
    const [first, second] = (whole as Uint8Array[]).slice(100);
    expect(first?.buffer).toBe(second?.buffer);
  });

  it('comes in one chunk when it is nested too deeply', () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 50_000; depth++) deep = [deep];
    expect([...chunks(deep)]).toHaveLength(1);
  });

  it('keeps holes of arrays, and properties beside their elements', () => {
    const sparse: unknown[] = [];
    sparse[1000] = 'far';
    const match = Object.assign(
      Array.from({ length: 100 }, (_, i) => [i]),
      { input: 'text' },
    );
    const { whole } = throughParts({ sparse, match }, 10);
    expect(whole).toStrictEqual(structuredClone({ sparse, match }));
    expect(0 in (whole as { sparse: unknown[] }).sparse).toBe(false);
    expect(whole).toHaveProperty('match.input', 'text');
  });

  it('does not take long strings for light ones', () => {
    const texts = Array.from({ length: 100 }, () => 'x'.repeat(100_000));
    const { whole, sent } = throughParts(texts);
    expect(whole).toEqual(texts);
    expect(sent.length).toBeGreaterThan(8);
  });
});
