/** Reads a number of times and adds up the results, so that no read is optimised away. */
export type Loop = (times: number) => number | Promise<number>;

// Each loop is compiled from different source text: for the same text V8 would
// reuse the compiled code. One function for all loops would share its type feedback: its call would be
// megamorphic, never inlined, and a fast read would look as slow as a call.
let loopCount = 0;

/** A loop over a synchronous read. */
export function syncLoop(read: () => unknown): Loop {
  return compile(
    'return (times) => { let sum = 0; for (let i = 0; i < times; i++) sum += read(); return sum; }',
    { read },
  );
}

/** A loop over an awaited read. */
export function awaitedLoop(read: () => unknown): Loop {
  return compile(
    'return async (times) => { let sum = 0; for (let i = 0; i < times; i++) sum += await read(); return sum; }',
    { read },
  );
}

const NEXT_KEY = 'at = at + 1 === keys.length ? 0 : at + 1';

/** A loop over reads of one key after the other, in cycles. */
export function keyedLoop(keys: readonly string[], read: (key: string) => unknown): Loop {
  return compile(
    `let at = 0;
    return (times) => { let sum = 0; for (let i = 0; i < times; i++) { ${NEXT_KEY}; sum += read(keys[at]); } return sum; }`,
    { keys, read },
  );
}

/** A loop over awaited reads of one key after the other, in cycles. */
export function awaitedKeyedLoop(keys: readonly string[], read: (key: string) => unknown): Loop {
  return compile(
    `let at = 0;
    return async (times) => { let sum = 0; for (let i = 0; i < times; i++) { ${NEXT_KEY}; sum += await read(keys[at]); } return sum; }`,
    { keys, read },
  );
}

function compile(source: string, scope: Readonly<Record<string, unknown>>): Loop {
  loopCount += 1;
  return new Function(...Object.keys(scope), `${source} // ${loopCount}`)(...Object.values(scope)) as Loop;
}
