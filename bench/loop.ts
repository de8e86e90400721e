/** Reads so many times and adds up what it got, so that no read can be optimised away. */
export type Loop = (times: number) => number | Promise<number>;

// Each loop is compiled from source of its own, that is, from one which differs: for the same source the engine would
// take what it had compiled before. One function for all would have one type feedback for all: its call would be
// megamorphic, never inlined, and a fast read would look as slow as a call.
let loopCount = 0;

/** A loop over a read without a promise. */
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

/** A loop over reads of one key after the other, round and round. */
export function keyedLoop(keys: readonly string[], read: (key: string) => unknown): Loop {
  return compile(
    `let at = 0;
    return (times) => { let sum = 0; for (let i = 0; i < times; i++) { ${NEXT_KEY}; sum += read(keys[at]); } return sum; }`,
    { keys, read },
  );
}

/** A loop over awaited reads of one key after the other, round and round. */
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
