import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonBreak } from '../../../src/sources/json-break.ts';

/** JSON with some characters left out, put in and changed, so that most of it is none. */
const almostJson = fc
  .tuple(
    fc.json(),
    fc.integer({ min: 0, max: 2 }),
    fc.array(
      fc.tuple(
        fc.nat(200),
        fc.nat(2),
        fc.constantFrom(...'{}[]",:0123456789-+.eE\\/utrfnalse \n\t\r\u0001\ud800é'),
      ),
      { maxLength: 3 },
    ),
  )
  .map(([json, indent, edits]) =>
    edits.reduce(
      (text, [at, left, put]) => text.slice(0, at) + put + text.slice(at + left),
      JSON.stringify(JSON.parse(json), undefined, indent),
    ),
  );

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it('finds a break where JSON.parse throws, and only there', () => {
  fc.assert(
    fc.property(fc.oneof(almostJson, fc.string()), (text) => {
      expect(jsonBreak(text) === undefined).toBe(isJson(text));
    }),
    { numRuns: 1000 },
  );
});

it('what stands before the break can be continued, and what stands before it and at it can not', () => {
  fc.assert(
    fc.property(almostJson, (text) => {
      const at = jsonBreak(text);
      if (at === undefined) return;
      expect(jsonBreak(text.slice(0, at)) ?? at).toBe(at); // it ends there, too early or as JSON
      if (at < text.length) expect(jsonBreak(text.slice(0, at + 1))).toBe(at);
    }),
    { numRuns: 1000 },
  );
});

it('agrees with the place that V8 names, where it names one', () => {
  fc.assert(
    fc.property(almostJson, (text) => {
      try {
        JSON.parse(text);
      } catch (error) {
        const { message } = error as Error;
        const position = /^(?:Expected|Bad control|Unexpected non-white).* position (\d+)/.exec(message)?.[1];
        if (position !== undefined) expect(jsonBreak(text)).toBe(Number(position));
      }
    }),
    { numRuns: 1000 },
  );
});
